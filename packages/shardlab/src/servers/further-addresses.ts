/** A server listens on one address; connections to the others of `--bind_ip` are forwarded. */
import { connect, createServer } from 'node:net'

/** Rejects with Node's error when it cannot listen. */
export async function forwardFrom(host: string, port: number, to: string): Promise<void> {
  const listener = createServer({ noDelay: true }, (client) => {
    const server = connect({ host: to, port, noDelay: true })
    client.pipe(server).pipe(client)
    client.on('error', () => server.destroy())
    server.on('error', () => client.destroy())
    client.on('close', () => server.destroy())
    server.on('close', () => client.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject)
    listener.listen({ host, port, ipv6Only: true }, resolve)
  })
}
