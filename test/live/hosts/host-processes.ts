/** `shardlab host` processes on a NATS server, one of them behind a proxy that can be paused. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { childOfTest, NatsServer } from '@shardlab/nats/testing'

const bin = fileURLToPath(new URL('../../../../packages/shardlab/bin/shardlab.js', import.meta.url))

export class HostProcesses implements AsyncDisposable {
  readonly server: NatsServer
  readonly #proxy: PausableProxy
  readonly #processes = new Map<string, ChildProcess>()

  private constructor(server: NatsServer, proxy: PausableProxy) {
    this.server = server
    this.#proxy = proxy
  }

  static async start(names: readonly string[]): Promise<HostProcesses> {
    const server = await NatsServer.start({ jetStream: false })
    const hosts = new HostProcesses(server, await PausableProxy.open(server.port))
    await Promise.all(names.map((name) => hosts.run(name)))
    return hosts
  }

  /** The last one reaches NATS through the proxy. */
  async run(name: string, { isBehindProxy = name === 'H3' } = {}): Promise<void> {
    const port = isBehindProxy ? this.#proxy.port : this.server.port
    const args = [bin, 'host', '--nats', `nats://127.0.0.1:${port}`, '--name', name]
    const child = childOfTest(spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] }))
    this.#processes.set(name, child)
    for await (const text of child.stdout as AsyncIterable<Buffer>) if (text.toString().includes('offers')) break
    child.stdout.resume()
  }

  get processIds(): number[] {
    return [...this.#processes.values()].map(({ pid }) => pid!)
  }

  async kill(name: string): Promise<void> {
    const child = this.#processes.get(name)!
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  /** Nothing passes between NATS and the host behind the proxy. */
  set isCut(isCut: boolean) {
    this.#proxy.isPaused = isCut
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#proxy.isPaused = false
    for (const child of this.#processes.values()) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
    this.#proxy.close()
    await this.server.stop()
  }
}

class PausableProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #isPaused = false

  private constructor(target: number) {
    this.#server = createServer((near) => {
      const far = connect(target, '127.0.0.1')
      near.pipe(far).pipe(near)
      for (const socket of [near, far]) {
        this.#sockets.add(socket)
        socket.on('error', () => socket.destroy())
        socket.on('close', () => {
          this.#sockets.delete(socket)
          near.destroy()
          far.destroy()
        })
      }
    })
  }

  static async open(target: number): Promise<PausableProxy> {
    const proxy = new PausableProxy(target)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  set isPaused(isPaused: boolean) {
    if (this.#isPaused === isPaused) return
    this.#isPaused = isPaused
    for (const socket of this.#sockets)
      if (isPaused) socket.pause()
      else socket.resume()
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }
}
