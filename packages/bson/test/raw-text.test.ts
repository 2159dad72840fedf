import fc from 'fast-check'
import t from 'tap'
import { DocumentWriter, findField, readText, textOf } from '../src/index.js'
import { check } from './support/check.js'

const written = (text: string): Uint8Array => {
  const value = findField(new DocumentWriter().string('a', text).finish(), 'a')!
  return value.bytes.subarray(value.start + 4, value.end - 1)
}

t.test('bytes that are not UTF-8 survive reading and writing a text', async () => {
  check(
    fc.property(
      fc.array(
        fc.oneof(
          fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
          fc.uint8Array(),
        ),
      ),
      (parts) => {
        const bytes = Buffer.concat(parts)
        return Buffer.compare(written(readText(bytes, 0, bytes.length)), bytes) === 0
      },
    ),
  )
})

t.test('a text without such bytes is read as usual, and a lone surrogate of another kind is replaced', async (t) => {
  for (const text of ['', 'plain', 'é€😀', '\uFFFD']) {
    t.equal(readText(Buffer.from(text), 0, Buffer.byteLength(text)), text)
    t.equal(Buffer.from(written(text)).toString(), text)
  }
  t.equal(Buffer.from(written('\uD800')).toString(), '\uFFFD')
  t.equal(textOf(undefined), '')
})
