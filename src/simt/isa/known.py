"""Instructions of PTX that simt knows, but does not run (PTX up to 9.0).

A module may have them: its other kernels run. What begins as one of these is taken as it is; see
`simt.isa.catalogue.known`. Whoever gives one a meaning moves it to its chapter.
"""

from __future__ import annotations

from simt.isa.catalogue import known
from simt.isa.memory import ORDERS, SCOPES
from simt.isa.texture import DIMENSIONS

# ------------------------------------------------------------------ matrices

known("mma.kind...", "Multiplies a small matrix, of which half is zeros, by another, and adds a third.",
      kind="sp sp::ordered_metadata", since="7.1 sm_80", requires={"sp::ordered_metadata": "8.5 sm_80"},
      ref="PTX 7.1 mma.sp")  # fmt: skip
known("mma.sync.aligned.m8n8k4....f16...", "Multiplies four pairs of small matrices of halves.",
      since="6.4 sm_70", ref="PTX 6.4 mma")  # fmt: skip
known("mma.sync....kind...", "Multiplies small matrices of short elements, whose blocks may have scales.",
      kind="kind::f8f6f4 kind::mxf8f6f4 kind::mxf4 kind::mxf4nvf4", since="8.7 sm_120",
      ref="PTX 8.7 mma")  # fmt: skip
known("ldmatrix.sync.aligned.shape...", "Loads matrices of smaller elements from shared memory.",
      shape="m16n16 m8n16", since="8.6 sm_100", ref="PTX 8.6 ldmatrix")  # fmt: skip
known("stmatrix.sync.aligned.m16n8...", "Stores matrices of smaller elements to shared memory.",
      since="8.6 sm_100", ref="PTX 8.6 stmatrix")  # fmt: skip
known("wgmma.op...", "Multiplies matrices with four warps together, asynchronously.",
      op="mma_async fence commit_group wait_group", since="8.0 sm_90", ref="PTX 8.0 wgmma")  # fmt: skip
known("tcgen05.op...", "Matrix products in a memory of their own (fifth generation of tensor cores).",
      op="alloc dealloc relinquish_alloc_permit ld st wait::ld wait::st cp shift mma commit "
      "fence::before_thread_sync fence::after_thread_sync", since="8.6 sm_100",
      ref="PTX 8.6 tcgen05")  # fmt: skip

# ------------------------------------------------------------------ asynchronous copies and their barriers

known("cp.async.bulk.tensor...", "Copies a part of a tensor asynchronously.", since="8.0 sm_90",
      ref="PTX 8.0 cp.async.bulk.tensor")  # fmt: skip
known("cp.async.bulk.prefetch.tensor...", "Prefetches a part of a tensor.", since="8.0 sm_90",
      ref="PTX 8.0 cp.async.bulk.prefetch.tensor")  # fmt: skip
known("cp.async.bulk....part...", "Copies many bytes to several CTAs, or some of them, asynchronously.",
      part="multicast::cluster cp_mask", since="8.0 sm_90", requires={"cp_mask": "8.6 sm_100"},
      ref="PTX 8.0 cp.async.bulk")  # fmt: skip
known("cp.reduce.async.bulk...", "Combines many values in memory with others, asynchronously.",
      since="8.0 sm_90", ref="PTX 8.0 cp.reduce.async.bulk")  # fmt: skip
known("st.async....mechanism...", "Stores in the shared memory of the cluster, asynchronously.",
      mechanism="mbarrier::complete_tx::bytes", since="8.1 sm_90", ref="PTX 8.1 st.async")  # fmt: skip
known("red.async....mechanism...", "Combines in the shared memory of the cluster, asynchronously.",
      mechanism="mbarrier::complete_tx::bytes", since="8.1 sm_90", ref="PTX 8.1 red.async")  # fmt: skip
known("st.bulk...", "Fills a part of shared memory.", since="8.6 sm_100", ref="PTX 8.6 st.bulk")
known("multimem.op...", "Accesses the same address of several devices.", op="ld_reduce st red",
      since="8.1 sm_90", ref="PTX 8.1 multimem")  # fmt: skip
known("tensormap.op...", "Changes or publishes the description of a tensor.", op="replace cp_fenceproxy",
      since="8.2 sm_90", requires={"cp_fenceproxy": "8.3 sm_90"}, ref="PTX 8.2 tensormap")  # fmt: skip
known("prefetch[.space].tensormap...", "Prefetches the description of a tensor.", space="const param",
      since="8.0 sm_90", ref="PTX 8.0 prefetch.tensormap")  # fmt: skip

# ------------------------------------------------------------------ clusters

known("mapa...", "The address of a variable in the shared memory of another CTA of the cluster.",
      since="7.8 sm_90", ref="PTX 7.8 mapa")  # fmt: skip
known("getctarank...", "The number of the CTA to whose shared memory an address belongs.", since="7.8 sm_90",
      ref="PTX 7.8 getctarank")  # fmt: skip
known("barrier.cluster.action[.sem][.aligned]", "A barrier of all threads of a cluster.", action="arrive",
      sem="release relaxed", since="7.8 sm_90", requires={"release": "8.0 sm_90", "relaxed": "8.0 sm_90"},
      ref="PTX 7.8 barrier.cluster")  # fmt: skip
known("barrier.cluster.action[.sem][.aligned]", "A barrier of all threads of a cluster.", action="wait",
      sem="acquire", since="7.8 sm_90", requires={"acquire": "8.0 sm_90"},
      ref="PTX 7.8 barrier.cluster")  # fmt: skip
known("clusterlaunchcontrol.op...", "Takes over the work of a cluster that has not begun.",
      op="try_cancel query_cancel", since="8.6 sm_100", ref="PTX 8.6 clusterlaunchcontrol")  # fmt: skip
known("setmaxnreg.action...", "Changes the number of registers of a warp.", action="inc dec",
      since="8.0 sm_90", ref="PTX 8.0 setmaxnreg")  # fmt: skip

# ------------------------------------------------------------------ caches

known("createpolicy.kind...", "Makes a cache policy for a range of memory, or from another one.",
      kind="range cvt", since="7.4 sm_80",
      ref="PTX 7.4 createpolicy")  # fmt: skip
for _opcode, _operands in (("atom", "d, [a], b, c"), ("red", "[a], b, c")):
    known(f"{_opcode}....hint... {_operands}", "An access with a cache policy.", hint="L2::cache_hint",
          since="7.4 sm_80", ref="PTX 7.4 .L2::cache_hint")  # fmt: skip
known("cp.async.level....hint... [a], [b], c, e", "A copy with a cache policy.", level="ca cg",
      hint="L2::cache_hint", since="7.4 sm_80", ref="PTX 7.4 .L2::cache_hint")  # fmt: skip
for _opcode, _operands in (("ld[.weak][.space]", "d, [a]"), ("st[.weak][.space]", "[a], b")):
    known(f"{_opcode}.type {_operands}", "Accesses 128 bits.", space="global shared", type="b128",
          since="8.3 sm_70", ref="PTX 8.3 .b128")  # fmt: skip
known("mov.type d:pack(type), a:pack(type)", "Moves 128 bits, from or to parts.", type="b128",
      since="8.3 sm_70", ref="PTX 8.3 .b128")  # fmt: skip
known("atom[.sem][.scope][.space].op.type d, [a], b", "Replaces 128 bits in memory.", op="exch", type="b128",
      sem=ORDERS, scope=SCOPES, space="global shared",
      since="8.3 sm_90", ref="PTX 8.3 .b128")  # fmt: skip
known("atom[.sem][.scope][.space].op.type d, [a], b, c", "Replaces 128 bits in memory if they are equal.",
      op="cas", type="b128", sem=ORDERS, scope=SCOPES, space="global shared", since="8.3 sm_90",
      ref="PTX 8.3 .b128")  # fmt: skip

for _opcode, _operands, _sem in (
    ("atom", "d:vec(type), [a], b:vec(type)", ORDERS),
    ("red", "[a], b:vec(type)", "relaxed release"),
):
    for _lengths, _types in (("v2 v4 v8", "f16 bf16"), ("v2 v4", "f16x2 bf16x2")):
        known(f"{_opcode}[.sem][.scope][.space].op.noftz.vec.type {_operands}",
              "The least or largest elements of a vector in memory and of another.", sem=_sem,
              scope=SCOPES, space="global", op="min max", vec=_lengths, type=_types,
              since="8.1 sm_90", ref=f"PTX 8.1 {_opcode}")  # fmt: skip
known("cvt.rna.satfinite.tf32.f32 d:b32, a:f32", "Rounds to .tf32, to finite values only.", since="8.1 sm_80",
      ref="PTX 8.1 cvt")  # fmt: skip

# ------------------------------------------------------------------ textures and surfaces

GEOMETRIES = "a1d a2d cube acube 2dms a2dms"

known("tex.level...", "Reads a texture at a level of detail.", since="2.0 sm_20", ref="PTX 2.0 tex.level")
known("tex.base...", "Reads a texture at its most detailed level.", since="2.0 sm_20", ref="PTX 2.0 tex.base")
known("tex.grad...", "Reads a texture at the level of detail that gradients ask for.", since="2.0 sm_20",
      ref="PTX 2.0 tex.grad")  # fmt: skip
known("tex.geom...", "Reads an array of textures, a cube map or a texture with several samples.",
      geom=GEOMETRIES, since="1.5 sm_20", ref="PTX 1.5 tex")  # fmt: skip
known("tex.geom.v4.dtype.btype... d:x4(dtype), a:texture, e:b32",
      "Reads a texture with an offset in texels, or compares it with a depth.", geom=" ".join(DIMENSIONS),
      dtype="u32 s32 f32", btype="s32 f32", since="4.3 sm_30", ref="PTX 4.3 tex")  # fmt: skip
known("tld4.component...", "Reads one component of the four texels around a coordinate.", component="r g b a",
      since="2.2 sm_20", ref="PTX 2.2 tld4")  # fmt: skip
known("txq...", "A property of a texture or sampler.", since="1.5 sm_20", ref="PTX 1.5 txq")
known("istypep...", "Whether an address is that of a texture, sampler or surface.", since="4.0 sm_30",
      ref="PTX 4.0 istypep")  # fmt: skip
known("suld.format...", "Reads a surface.", format="b p", since="1.5 sm_20", ref="PTX 1.5 suld")
known("sust.format...", "Writes a surface.", format="b p", since="1.5 sm_20", ref="PTX 1.5 sust")
known("sured.format...", "Combines values on a surface with others.", format="b p", since="2.0 sm_20",
      ref="PTX 2.0 sured")  # fmt: skip
known("suq...", "A property of a surface.", since="1.5 sm_20", ref="PTX 1.5 suq")

# ------------------------------------------------------------------ formats

known("cvt....format...", "Converts from or to further small formats.",
      format="e4m3x4 e5m2x4 e2m1x2 e2m1x4 e2m3x2 e2m3x4 e3m2x2 e3m2x4 ue8m0x2",
      since="8.6 sm_100", ref="PTX 8.6 cvt")  # fmt: skip
known("cvt.pack.sat.narrow...", "Limits two integers to 2 or 4 bits, below the lower part of a third.",
      narrow="u4 s4 u2 s2", since="6.5 sm_75", ref="PTX 6.5 cvt.pack")  # fmt: skip
known("cvt.rs...", "Converts with stochastic rounding.", since="8.7 sm_100", ref="PTX 8.7 cvt.rs")
