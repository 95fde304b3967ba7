"""Instructions that simt knows but does not run: one of every form, with registers as `tests.unit.isa.ptxas`
declares them. `A_TARGETS`: those that only a target with an `a` has, which that module does not assemble."""

from __future__ import annotations

V4 = "{%f32_0, %f32_1, %f32_2, %f32_3}"
V8 = "{%f32_0, %f32_1, %f32_2, %f32_3, %f32_4, %f32_5, %f32_6, %f32_7}"
B4 = "{%b32_0, %b32_1, %b32_2, %b32_3}"
AT = "[%b64_0, {%f32_0, %f32_1}]"
DONE = "mbarrier::complete_tx::bytes"

EXAMPLES = (
    f"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {V8}, {{%b32_0, %b32_1}}, {{%b32_2, %b32_3}}, {V8}",
    "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
    f" {V4}, {{%b32_0, %b32_1}}, {{%b32_2, %b32_3}}, {V4}, %b32_4, 0",
    f"cp.async.bulk.tensor.1d.shared::cluster.global.{DONE} [%b64_0], [%b64_1, {{%b32_0}}], [%b64_2]",
    "cp.async.bulk.prefetch.tensor.1d.L2.global [%b64_1, {%b32_0}]",
    f"cp.async.bulk.shared::cluster.global.{DONE}.multicast::cluster"
    " [%b64_0], [%b64_1], %b32_0, [%b64_2], %b16_0",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%b64_0], [%b64_1], %b32_0",
    f"st.async.shared::cluster.{DONE}.b32 [%b64_0], %b32_0, [%b64_1]",
    f"red.async.relaxed.cluster.shared::cluster.{DONE}.add.u32 [%b64_0], %b32_0, [%b64_1]",
    "multimem.ld_reduce.global.add.u32 %b32_0, [%b64_0]",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned"
    " [%b64_0], [%b64_1], 128",
    "prefetch.tensormap [%b64_0]",
    "mapa.u64 %b64_0, %b64_1, %b32_0",
    "getctarank.u64 %b32_0, %b64_1",
    "barrier.cluster.arrive.relaxed.aligned",
    "barrier.cluster.wait.acquire",
    "createpolicy.range.global.L2::evict_first.b64 %b64_0, [%b64_1], %b32_0, %b32_1",
    "atom.global.add.L2::cache_hint.u32 %b32_0, [%b64_0], %b32_1, %b64_1",
    "red.global.add.L2::cache_hint.u32 [%b64_0], %b32_1, %b64_1",
    "atom.relaxed.gpu.global.max.noftz.v2.f16 {%b16_0, %b16_1}, [%b64_0], {%b16_2, %b16_3}",
    f"atom.global.min.noftz.v4.bf16x2 {B4}, [%b64_0], {B4}",
    "red.release.sys.global.min.noftz.v2.bf16 [%b64_0], {%b16_2, %b16_3}",
    f"red.global.max.noftz.v4.f16x2 [%b64_0], {B4}",
    "cvt.rna.satfinite.tf32.f32 %b32_0, %f32_1",
    "cp.async.ca.shared.global.L2::cache_hint [%b64_0], [%b64_1], 4, %b64_2",
    "ld.global.b128 %b128_0, [%b64_0]",
    "st.b128 [%b64_0], %b128_0",
    "mov.b128 %b128_0, {%b64_0, %b64_1}",
    "mov.b128 {%b64_0, %b64_1}, %b128_0",
    "atom.acquire.gpu.global.exch.b128 %b128_0, [%b64_0], %b128_1",
    "atom.global.cas.b128 %b128_0, [%b64_0], %b128_1, %b128_2",
    f"tex.level.2d.v4.f32.f32 {V4}, {AT}, %f32_0",
    f"tex.base.2d.v4.f32.f32 {V4}, {AT}",
    f"tex.grad.2d.v4.f32.f32 {V4}, {AT}, {{%f32_0, %f32_1}}, {{%f32_2, %f32_3}}",
    f"tex.a2d.v4.f32.f32 {V4}, [%b64_0, {{%b32_1, %f32_2, %f32_2, %f32_2}}]",
    f"tex.2d.v4.f32.f32 {V4}, {AT}, {{%b32_0, %b32_1}}",
    f"tex.2d.v4.f32.f32 {V4}, {AT}, {{1, -1}}, %f32_4",
    f"tld4.r.2d.v4.f32.f32 {V4}, {AT}",
    "txq.width.b32 %b32_0, [%b64_0]",
    "istypep.texref %pred_0, %b64_0",
    "suld.b.1d.b32.trap %b32_0, [%b64_0, {%b32_1}]",
    "sust.p.1d.v4.b32.trap [%b64_0, {%b32_1}], " + B4,
    "sured.b.add.1d.u32.trap [%b64_0, {%b32_1}], %b32_0",
    "suq.width.b32 %b32_0, [%b64_0]",
    "st.bulk.weak.shared::cta [%b64_0], %b64_1, 0",
    "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %pred_0, %b128_0",
)

A_TARGETS = (
    f"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m3.f32 {V4}, {B4}, {{%b32_4, %b32_5}}, {V4}",
    "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%b32_0, %b32_1}, [%b64_0]",
    "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%b64_0], {%b32_0}",
    "wgmma.fence.sync.aligned",
    "setmaxnreg.inc.sync.aligned.u32 128",
    "tcgen05.wait::ld.sync.aligned",
    "cvt.rn.satfinite.e2m3x2.f32 %b16_0, %f32_0, %f32_1",
    "cvt.pack.sat.u4.s32.b32 %b32_0, %s32_1, %s32_2, %b32_3",
    "cvt.rs.f16x2.f32 %b32_0, %f32_0, %f32_1, %b32_1",
)
