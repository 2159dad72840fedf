import { decode, encode, Long } from '@shardlab/bson'
import t from 'tap'
import { cursorId } from '../src/client/reply.js'

t.test('a cursor id is sent as the int64 that it was, however small, and however it was decoded', async (t) => {
  for (const text of ['7', '3585875403017863', '9007199254740993', '8555427588880812711']) {
    const reply = encode({ id: Long.fromString(text) })
    const decoded = [decode(reply)['id'], Long.fromString(text), BigInt(text)]
    for (const id of decoded) {
      const sent = decode(encode({ getMore: cursorId(id) }), { promoteLongs: false })['getMore'] as Long
      t.ok(Long.isLong(sent), text)
      t.equal(sent.toString(), text)
    }
  }
})
