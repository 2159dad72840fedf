/**
 * The server that all others are compared with: it frames messages, reads the command's name and
 * answers with bytes given in advance. It runs in its own process; its parent sends the answers and
 * gets the port.
 */
import { createServer, type AddressInfo } from 'node:net'

const headerBytes = 16
/** Header, flags, and the kind of the first section. */
const bodyAt = headerBytes + 5
const opMsg = 2013

process.once('message', (answers: Record<string, string>) => {
  const templates = new Map(
    Object.entries(answers).map(([name, body]) => [name, messageOf(Buffer.from(body, 'base64'))]),
  )
  const fallback = templates.get('ping')!
  const server = createServer((socket) => {
    let rest: Buffer = Buffer.alloc(0)
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      let data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      const replies: Buffer[] = []
      while (data.length >= 4 && data.length >= data.readInt32LE(0)) {
        const length = data.readInt32LE(0)
        const reply = Buffer.from(templates.get(nameOf(data)) ?? fallback)
        reply.writeInt32LE(data.readInt32LE(4), 8)
        replies.push(reply)
        data = data.subarray(length)
      }
      rest = data
      if (replies.length > 0) socket.write(replies.length === 1 ? replies[0]! : Buffer.concat(replies))
    })
  })
  server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
})
process.once('disconnect', () => process.exit())

/** The first element's name of an OP_MSG. Drivers begin with an OP_QUERY, which is a hello. */
function nameOf(message: Buffer): string {
  if (message.readInt32LE(12) !== opMsg) return 'hello'
  const start = bodyAt + 5
  return message.toString('latin1', start, message.indexOf(0, start))
}

function messageOf(body: Buffer): Buffer {
  const head = Buffer.alloc(bodyAt)
  head.writeInt32LE(bodyAt + body.length, 0)
  head.writeInt32LE(opMsg, 12)
  return Buffer.concat([head, body])
}
