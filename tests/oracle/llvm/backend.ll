; What compilers over LLVM's own NVPTX back end print: status codes, results through pointers, switches, tables.
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p6:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

@weights = internal addrspace(4) constant [8 x i32] [i32 3, i32 1, i32 4, i32 1, i32 5, i32 9, i32 2, i32 6]
@staging = internal addrspace(3) global [256 x i32] undef, align 4

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare void @llvm.nvvm.barrier0()
declare i32 @llvm.ctpop.i32(i32)
declare i32 @llvm.ctlz.i32(i32, i1)
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i32 @llvm.bswap.i32(i32)
declare i32 @llvm.bitreverse.i32(i32)
declare i32 @llvm.smax.i32(i32, i32)
declare i32 @llvm.uadd.sat.i32(i32, i32)
declare {i32, i1} @llvm.umul.with.overflow.i32(i32, i32)
declare float @llvm.fma.f32(float, float, float)
declare float @llvm.sqrt.f32(float)
declare float @llvm.floor.f32(float)
declare float @llvm.maxnum.f32(float, float)

define i32 @divided(ptr %result, i32 %a, i32 %b) noinline {
  %zero = icmp eq i32 %b, 0
  br i1 %zero, label %fail, label %good
fail:
  ret i32 1
good:
  %q = sdiv i32 %a, %b
  %r = srem i32 %a, %b
  %v = xor i32 %q, %r
  store i32 %v, ptr %result
  ret i32 0
}

define i32 @chosen(i32 %which, i32 %v) noinline {
  switch i32 %which, label %other [
    i32 0, label %c0
    i32 1, label %c1
    i32 2, label %c2
    i32 3, label %c3
    i32 4, label %c4
    i32 7, label %c7
  ]
c0:
  %r0 = add i32 %v, 17
  ret i32 %r0
c1:
  %r1 = mul i32 %v, 33
  ret i32 %r1
c2:
  %r2 = lshr i32 %v, 5
  ret i32 %r2
c3:
  %r3 = call i32 @llvm.ctpop.i32(i32 %v)
  ret i32 %r3
c4:
  %r4 = call i32 @llvm.bitreverse.i32(i32 %v)
  ret i32 %r4
c7:
  %r7 = call i32 @llvm.bswap.i32(i32 %v)
  ret i32 %r7
other:
  ret i32 %which
}

define ptx_kernel void @integers(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %out, i32 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %cd = mul i32 %c, %d
  %i = add i32 %cd, %t
  %pa = getelementptr i32, ptr addrspace(1) %a, i32 %i
  %pb = getelementptr i32, ptr addrspace(1) %b, i32 %i
  %x = load i32, ptr addrspace(1) %pa
  %y = load i32, ptr addrspace(1) %pb
  %slot = alloca i32
  store i32 -5, ptr %slot
  %status = call i32 @divided(ptr %slot, i32 %x, i32 %y)
  %v0 = load i32, ptr %slot
  %v0s = add i32 %v0, %status
  %which = and i32 %x, 7
  %v1 = call i32 @chosen(i32 %which, i32 %y)
  %wp = getelementptr [8 x i32], ptr addrspace(4) @weights, i32 0, i32 %which
  %w = load i32, ptr addrspace(4) %wp
  %f = call i32 @llvm.fshl.i32(i32 %x, i32 %y, i32 %w)
  %m = call i32 @llvm.smax.i32(i32 %f, i32 %y)
  %s = call i32 @llvm.uadd.sat.i32(i32 %x, i32 %y)
  %o = call {i32, i1} @llvm.umul.with.overflow.i32(i32 %x, i32 %w)
  %ov = extractvalue {i32, i1} %o, 0
  %of = extractvalue {i32, i1} %o, 1
  %oz = zext i1 %of to i32
  %v3 = add i32 %ov, %oz
  %z = call i32 @llvm.ctlz.i32(i32 %x, i1 false)
  %sp = getelementptr [256 x i32], ptr addrspace(3) @staging, i32 0, i32 %t
  store i32 %z, ptr addrspace(3) %sp
  call void @llvm.nvvm.barrier0()
  %u = xor i32 %t, 31
  %up = getelementptr [256 x i32], ptr addrspace(3) @staging, i32 0, i32 %u
  %uv = load i32, ptr addrspace(3) %up
  %x64 = sext i32 %x to i64
  %y64 = zext i32 %y to i64
  %p64 = mul i64 %x64, %y64
  %hi = ashr i64 %p64, 29
  %v5 = trunc i64 %hi to i32
  %xb = trunc i32 %x to i8
  %yb = trunc i32 %y to i8
  %sb = mul i8 %xb, %yb
  %db = sext i8 %sb to i32
  %old = atomicrmw umax ptr addrspace(3) %up, i32 %u seq_cst
  br label %loop
loop:
  %k = phi i32 [ 0, %0 ], [ %k1, %loop ]
  %acc = phi i32 [ %x, %0 ], [ %acc1, %loop ]
  %sh = shl i32 %acc, 1
  %acc1 = xor i32 %sh, %k
  %k1 = add i32 %k, 1
  %lim = and i32 %y, 15
  %more = icmp ult i32 %k1, %lim
  br i1 %more, label %loop, label %done
done:
  %q0 = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %v0s, ptr addrspace(1) %q0
  %q1 = getelementptr i32, ptr addrspace(1) %q0, i32 %n
  store i32 %v1, ptr addrspace(1) %q1
  %q2 = getelementptr i32, ptr addrspace(1) %q1, i32 %n
  store i32 %m, ptr addrspace(1) %q2
  %q3 = getelementptr i32, ptr addrspace(1) %q2, i32 %n
  store i32 %v3, ptr addrspace(1) %q3
  %q4 = getelementptr i32, ptr addrspace(1) %q3, i32 %n
  store i32 %uv, ptr addrspace(1) %q4
  %q5 = getelementptr i32, ptr addrspace(1) %q4, i32 %n
  store i32 %v5, ptr addrspace(1) %q5
  %q6 = getelementptr i32, ptr addrspace(1) %q5, i32 %n
  %sum = add i32 %db, %s
  store i32 %sum, ptr addrspace(1) %q6
  %q7 = getelementptr i32, ptr addrspace(1) %q6, i32 %n
  store i32 %acc1, ptr addrspace(1) %q7
  ret void
}

define ptx_kernel void @floats(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %out, i32 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %cd = mul i32 %c, %d
  %i = add i32 %cd, %t
  %pa = getelementptr float, ptr addrspace(1) %a, i32 %i
  %pb = getelementptr float, ptr addrspace(1) %b, i32 %i
  %x = load float, ptr addrspace(1) %pa
  %y = load float, ptr addrspace(1) %pb
  %s = call float @llvm.fma.f32(float %x, float %y, float 1.5)
  %r = call float @llvm.sqrt.f32(float %s)
  %q = fdiv float %x, %y
  %fl = call float @llvm.floor.f32(float %q)
  %mx = call float @llvm.maxnum.f32(float %fl, float %y)
  %lt = fcmp olt float %x, %y
  %un = fcmp uno float %x, %y
  %v3 = select i1 %lt, float %x, float 3.0
  %v4 = select i1 %un, float 1.0, float %v3
  %wide = fpext float %x to double
  %sq = fmul double %wide, %wide
  %nar = fptrunc double %sq to float
  %q0 = getelementptr float, ptr addrspace(1) %out, i32 %i
  store float %r, ptr addrspace(1) %q0
  %q1 = getelementptr float, ptr addrspace(1) %q0, i32 %n
  store float %mx, ptr addrspace(1) %q1
  %q2 = getelementptr float, ptr addrspace(1) %q1, i32 %n
  store float %v4, ptr addrspace(1) %q2
  %q3 = getelementptr float, ptr addrspace(1) %q2, i32 %n
  store float %nar, ptr addrspace(1) %q3
  ret void
}

!nvvm.annotations = !{!0, !1}
!0 = !{ptr @integers, !"kernel", i32 1}
!1 = !{ptr @floats, !"kernel", i32 1}
