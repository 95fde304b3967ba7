; What LLVM's NVPTX backend makes of the language: switches, tables of functions, recursion, structures by value
; that are indexed by a variable, wide integers, bit operations, shared memory.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%Pair = type { i32, [5 x i32] }

@buffer = internal addrspace(3) global [256 x i32] undef, align 4
@operations = internal addrspace(1) constant [4 x ptr] [ptr @plus, ptr @minus, ptr @times, ptr @mixed], align 8
@names = addrspace(4) constant [4 x [3 x i8]] [[3 x i8] c"ab\00", [3 x i8] c"cd\00", [3 x i8] c"ef\00", [3 x i8] c"gh\00"], align 1
@reference = addrspace(1) global ptr addrspace(1) getelementptr ([8 x i32], ptr addrspace(1) @numbers, i64 0, i64 3), align 8
@numbers = addrspace(1) global [8 x i32] [i32 2, i32 3, i32 5, i32 7, i32 11, i32 13, i32 17, i32 19], align 4

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare void @llvm.nvvm.barrier0()
declare i32 @llvm.ctpop.i32(i32)
declare i32 @llvm.ctlz.i32(i32, i1)
declare i32 @llvm.cttz.i32(i32, i1)
declare i32 @llvm.bitreverse.i32(i32)
declare i32 @llvm.bswap.i32(i32)
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i32 @llvm.uadd.sat.i32(i32, i32)
declare { i32, i1 } @llvm.umul.with.overflow.i32(i32, i32)

define internal i32 @index() alwaysinline {
  %c = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %n = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %m = mul i32 %c, %n
  %i = add i32 %m, %t
  ret i32 %i
}

define internal i32 @plus(i32 %a, i32 %b) noinline {
  %r = add i32 %a, %b
  ret i32 %r
}

define internal i32 @minus(i32 %a, i32 %b) noinline {
  %r = sub i32 %a, %b
  ret i32 %r
}

define internal i32 @times(i32 %a, i32 %b) noinline {
  %r = mul i32 %a, %b
  ret i32 %r
}

define internal i32 @mixed(i32 %a, i32 %b) noinline {
  %x = xor i32 %a, %b
  %p = call i32 @llvm.ctpop.i32(i32 %x)
  %z = call i32 @llvm.ctlz.i32(i32 %x, i1 false)
  %t = call i32 @llvm.cttz.i32(i32 %a, i1 false)
  %v = call i32 @llvm.bitreverse.i32(i32 %b)
  %s = call i32 @llvm.bswap.i32(i32 %a)
  %f = call i32 @llvm.fshl.i32(i32 %v, i32 %s, i32 %p)
  %q = call i32 @llvm.uadd.sat.i32(i32 %f, i32 %a)
  %m = call { i32, i1 } @llvm.umul.with.overflow.i32(i32 %q, i32 3)
  %l = extractvalue { i32, i1 } %m, 0
  %o = extractvalue { i32, i1 } %m, 1
  %w = zext i1 %o to i32
  %u = add i32 %z, %w
  %y = mul i32 %t, 65537
  %k = xor i32 %l, %y
  %r = add i32 %k, %u
  ret i32 %r
}

; A byte of code: two bits of operation, six of operand. Values of 0xF0 and more are jumps of a little machine.
define ptx_kernel void @interpret(ptr addrspace(1) %code, ptr addrspace(1) %values, i32 %steps) {
entry:
  %i = call i32 @index()
  %wide = zext i32 %i to i64
  %place = getelementptr i32, ptr addrspace(1) %values, i64 %wide
  %start = load i32, ptr addrspace(1) %place, align 4
  %row = mul i32 %i, %steps
  br label %loop

loop:
  %k = phi i32 [ 0, %entry ], [ %next, %join ]
  %value = phi i32 [ %start, %entry ], [ %new, %join ]
  %more = icmp ult i32 %k, %steps
  br i1 %more, label %body, label %end

body:
  %at = add i32 %row, %k
  %at64 = zext i32 %at to i64
  %p = getelementptr i8, ptr addrspace(1) %code, i64 %at64
  %byte = load i8, ptr addrspace(1) %p, align 1
  switch i8 %byte, label %ordinary [
    i8 -16, label %halve
    i8 -15, label %negate
    i8 -14, label %hash
    i8 -13, label %skip
    i8 -12, label %name
    i8 -11, label %refer
  ]

halve:
  %h = ashr i32 %value, 1
  br label %join

negate:
  %n = sub i32 0, %value
  br label %join

hash:
  %v64 = sext i32 %value to i64
  %v128 = sext i32 %value to i128
  %sq = mul i64 %v64, 6364136223846793005
  %wide128 = zext i64 %sq to i128
  %cube = mul i128 %wide128, 340282366920938463463374607431768211297
  %sum = add i128 %cube, %v128
  %high = lshr i128 %sum, 77
  %hashed = trunc i128 %high to i32
  br label %join

skip:
  %skipped = add i32 %k, 1
  br label %join

name:
  %w1 = and i32 %value, 3
  %w2 = zext i32 %w1 to i64
  %np = getelementptr [4 x [3 x i8]], ptr addrspace(4) @names, i64 0, i64 %w2, i64 1
  %letter = load i8, ptr addrspace(4) %np, align 1
  %named = zext i8 %letter to i32
  br label %join

refer:
  %base = load ptr addrspace(1), ptr addrspace(1) @reference, align 8
  %r1 = and i32 %value, 3
  %r2 = zext i32 %r1 to i64
  %rp = getelementptr i32, ptr addrspace(1) %base, i64 %r2
  %referred = load i32, ptr addrspace(1) %rp, align 4
  br label %join

ordinary:
  %op = and i8 %byte, 3
  %op64 = zext i8 %op to i64
  %operand8 = lshr i8 %byte, 2
  %operand = zext i8 %operand8 to i32
  %fp = getelementptr [4 x ptr], ptr addrspace(1) @operations, i64 0, i64 %op64
  %function = load ptr, ptr addrspace(1) %fp, align 8
  %called = call i32 %function(i32 %value, i32 %operand)
  br label %join

join:
  %new = phi i32 [ %h, %halve ], [ %n, %negate ], [ %hashed, %hash ], [ %value, %skip ], [ %named, %name ], [ %referred, %refer ], [ %called, %ordinary ]
  %from = phi i32 [ %k, %halve ], [ %k, %negate ], [ %k, %hash ], [ %skipped, %skip ], [ %k, %name ], [ %k, %refer ], [ %k, %ordinary ]
  %next = add i32 %from, 1
  br label %loop

end:
  store i32 %value, ptr addrspace(1) %place, align 4
  ret void
}

; Catalan numbers by their recursion: calls that branch twice.
define internal i32 @catalan(i32 %n) noinline {
entry:
  %small = icmp ult i32 %n, 2
  br i1 %small, label %one, label %loop

one:
  ret i32 1

loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ 0, %entry ], [ %more, %loop ]
  %left = call i32 @catalan(i32 %k)
  %last = sub i32 %n, 1
  %rest = sub i32 %last, %k
  %right = call i32 @catalan(i32 %rest)
  %product = mul i32 %left, %right
  %more = add i32 %sum, %product
  %next = add i32 %k, 1
  %again = icmp ult i32 %next, %n
  br i1 %again, label %loop, label %done

done:
  ret i32 %more
}

define ptx_kernel void @catalans(ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %n = urem i32 %t, 7
  %r = call i32 @catalan(i32 %n)
  %wide = zext i32 %t to i64
  %p = getelementptr i32, ptr addrspace(1) %out, i64 %wide
  store i32 %r, ptr addrspace(1) %p, align 4
  ret void
}

define internal %Pair @turned(ptr byval(%Pair) align 4 %pair, i32 %by) noinline {
  %at = urem i32 %by, 5
  %at64 = zext i32 %at to i64
  %p = getelementptr %Pair, ptr %pair, i64 0, i32 1, i64 %at64
  %x = load i32, ptr %p, align 4
  %first = load i32, ptr %pair, align 4
  %sum = add i32 %x, %first
  store i32 %by, ptr %p, align 4
  %whole = load %Pair, ptr %pair, align 4
  %result = insertvalue %Pair %whole, i32 %sum, 0
  ret %Pair %result
}

; A structure by value, changed in copies: the kernel's own must stay as it is.
define ptx_kernel void @structures(ptr byval(%Pair) align 4 %pair, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %once = call %Pair @turned(ptr byval(%Pair) align 4 %pair, i32 %t)
  %copy = alloca %Pair, align 4
  store %Pair %once, ptr %copy, align 4
  %u = add i32 %t, 3
  %twice = call %Pair @turned(ptr byval(%Pair) align 4 %copy, i32 %u)
  %a = extractvalue %Pair %twice, 0
  %at = urem i32 %t, 5
  %at64 = zext i32 %at to i64
  %kp = getelementptr %Pair, ptr %pair, i64 0, i32 1, i64 %at64
  %b = load i32, ptr %kp, align 4
  %c = extractvalue %Pair %twice, 1, 4
  %row = mul i32 %t, 3
  %wide = zext i32 %row to i64
  %p0 = getelementptr i32, ptr addrspace(1) %out, i64 %wide
  store i32 %a, ptr addrspace(1) %p0, align 4
  %p1 = getelementptr i32, ptr addrspace(1) %p0, i64 1
  store i32 %b, ptr addrspace(1) %p1, align 4
  %p2 = getelementptr i32, ptr addrspace(1) %p0, i64 2
  store i32 %c, ptr addrspace(1) %p2, align 4
  ret void
}

; Sums of CTAs of 256 threads, by a tree in shared memory.
define ptx_kernel void @sums(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %i = call i32 @index()
  %i64 = zext i32 %i to i64
  %p = getelementptr <4 x i32>, ptr addrspace(1) %in, i64 %i64
  %four = load <4 x i32>, ptr addrspace(1) %p, align 16
  %a0 = extractelement <4 x i32> %four, i32 0
  %a1 = extractelement <4 x i32> %four, i32 1
  %a2 = extractelement <4 x i32> %four, i32 2
  %a3 = extractelement <4 x i32> %four, i32 3
  %b0 = add i32 %a0, %a1
  %b1 = add i32 %a2, %a3
  %b = add i32 %b0, %b1
  %t64 = zext i32 %t to i64
  %mine = getelementptr [256 x i32], ptr addrspace(3) @buffer, i64 0, i64 %t64
  store i32 %b, ptr addrspace(3) %mine, align 4
  br label %loop

loop:
  %s = phi i32 [ 128, %entry ], [ %half, %joined ]
  call void @llvm.nvvm.barrier0()
  %here = icmp ult i32 %t, %s
  br i1 %here, label %add, label %joined

add:
  %o = add i32 %t, %s
  %o64 = zext i32 %o to i64
  %other = getelementptr [256 x i32], ptr addrspace(3) @buffer, i64 0, i64 %o64
  %x = load i32, ptr addrspace(3) %other, align 4
  %y = load i32, ptr addrspace(3) %mine, align 4
  %z = add i32 %x, %y
  store i32 %z, ptr addrspace(3) %mine, align 4
  br label %joined

joined:
  %half = lshr i32 %s, 1
  %again = icmp ne i32 %half, 0
  br i1 %again, label %loop, label %done

done:
  %first = icmp eq i32 %t, 0
  br i1 %first, label %store, label %end

store:
  %total = load i32, ptr addrspace(3) %mine, align 4
  %c64 = zext i32 %c to i64
  %q = getelementptr i32, ptr addrspace(1) %out, i64 %c64
  store i32 %total, ptr addrspace(1) %q, align 4
  br label %end

end:
  ret void
}
