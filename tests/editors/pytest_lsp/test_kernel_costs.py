"""What kernels cost, and why a producer is not fused."""

from lsprotocol import types as t

MODULE = """HloModule m

%fused {
  p.1 = f32[2048,1024] parameter(0)
  ROOT n.1 = f32[2048,1024] negate(p.1)
}

%small {
  q.1 = f32[64] parameter(0)
  ROOT m.1 = f32[64] negate(q.1)
}

ENTRY %e {
  p = f32[2048,1024] parameter(0)
  q = f32[64] parameter(1)
  s = f32[64] fusion(q), kind=kLoop, calls=%small
  |n = f32[2048,1024] floor(p)
  f = f32[2048,1024] fusion(n), kind=kLoop, calls=%fused
  ROOT t = (f32[2048,1024], f32[64]) tuple(|f, s)
}
"""


async def test_fusion_in_the_popup(editor):
    document = editor.open(MODULE)
    producer = await editor.client.text_document_hover_async(document.here(t.HoverParams))
    assert "fusion into `%f`" in producer.contents.value
    assert "XLA fuses it" in producer.contents.value
    root = t.HoverParams(text_document=document.identifier, position=document.marks[1])
    result = await editor.client.text_document_hover_async(root)
    assert "not fused" not in result.contents.value, "a tuple is no kernel"


async def test_heaviest_kernels(editor):
    document = editor.open(MODULE)
    params = {"textDocument": {"uri": document.uri}, "limit": 2}
    answer = await editor.client.protocol.send_request_async("hlo-analyzer/heaviestKernels", params)
    names = [kernel.name for kernel in answer.kernels]
    assert set(names) == {"n", "f"}
    assert answer.omitted == 1 and answer.launches == 3
    first = answer.kernels[0]
    assert first.bound == "memory" and first.xla.exec_us >= first.roofline.exec_us
    start = getattr(first.at, "start")
    assert document.text.split("\n")[start.line].strip().startswith(first.name)
    assert "| kernel |" in answer.markdown
