/** One mongod as a process has it: with a port and the name of its set. */
import { noAnswer, RequestFailedError, type ClusterEvent } from '@shardlab/actor'
import { decode, encode, type Document } from '@shardlab/bson'
import { createInlineRuntime, type InlineRuntime, type MemberInfo, type MemberSpec } from '@shardlab/runtime'
import { Faults } from '../faults/faults.js'
import { outsideActor } from '../outside-actor.js'
import { resolveOptions } from '../resolve-options.js'
import type { ResolvedOptions } from '../resolved-options.js'
import { lazyRoles } from '../roles.js'
import { memberSpec, mongodSpec, standaloneAddress } from '../topology.js'
import type { EmulatedServerOptions } from './server-options.js'

/** Of the commands of {@link EmulatedServer.command}: clients have lower numbers. */
const ownConnectionId = 2 ** 31 - 1

export class EmulatedServer {
  readonly #runtime: InlineRuntime
  readonly #member: MemberInfo
  #isPrimary = false

  private constructor(runtime: InlineRuntime, member: MemberInfo) {
    this.#runtime = runtime
    this.#member = member
  }

  /**
   * Resolves when the server listens.
   * @throws OptionError an option is wrong
   * @throws Error of Node.js, such as EADDRINUSE, when it cannot listen
   */
  static async start(options: EmulatedServerOptions): Promise<EmulatedServer> {
    const resolved = resolvedOf(options)
    const spec = specOf(options, resolved)
    const runtime: InlineRuntime = createInlineRuntime({
      roles: { [spec.role]: await lazyRoles[spec.role]!() },
      seed: resolved.seed,
      outside: outsideActor(() => ({ runtime, faults, copies: null })),
    })
    const faults = new Faults(runtime, { ...resolved, restart: async (member) => void (await runtime.restart(member)) })
    if (options.onEvent !== undefined) runtime.onEvent(options.onEvent)
    try {
      const [member] = await runtime.start([spec])
      const server = new EmulatedServer(runtime, member!)
      runtime.onEvent((event) => server.#noteState(event, options))
      return server
    } catch (error) {
      await runtime.stop()
      throw error
    }
  }

  /** `host:port`. */
  get endpoint(): string {
    return this.#member.endpoint
  }

  /**
   * Runs a command as a client of this machine does.
   * @returns the reply, also when it is an error
   * @throws RequestFailedError the server is down
   */
  async command(command: Document): Promise<Document> {
    const { body } = await this.#runtime.request(this.#member.address, 'client.command', {
      ...{ connectionId: ownConnectionId, body: encode(command), sequences: [], legacy: false, remote: '127.0.0.1:0' },
    })
    if (body.length === noAnswer.length)
      throw new RequestFailedError('unreachable', this.#member.address, 'the connection was closed')
    return decode(body)
  }

  /** Ends connections in order. */
  stop(): Promise<void> {
    return this.#runtime.stop()
  }

  /** A primary accepts writes only after it has caught up, and no event reports that. */
  #noteState(event: ClusterEvent, { onWritable }: EmulatedServerOptions): void {
    if (event.type !== 'member-state') return
    this.#isPrimary = event.to === 'PRIMARY'
    if (!this.#isPrimary || onWritable === undefined) return
    const ask = async (): Promise<void> => {
      const { isWritable } = await this.#runtime.request(this.#member.address, 'replication.find-primary', {})
      if (isWritable) onWritable()
      else if (this.#isPrimary) setTimeout(() => void ask().catch(ignoreEnd), writableAskMs)
    }
    void ask().catch(ignoreEnd)
  }
}

const writableAskMs = 5

/** The server has been stopped. */
function ignoreEnd(error: unknown): void {
  if (!(error instanceof RequestFailedError)) throw error
}

function resolvedOf({ setName, host, port, emulate, nativeWire }: EmulatedServerOptions): ResolvedOptions {
  return resolveOptions({
    ...{ runtime: 'inline', host, port, serverTimings: true },
    ...(setName === null
      ? { topology: 'standalone' }
      : { topology: 'replica-set', members: [{}], setName, initiate: false }),
    ...(emulate === undefined ? {} : { emulate }),
    ...(nativeWire === undefined ? {} : { nativeWire }),
  })
}

function specOf({ setName, host, port }: EmulatedServerOptions, resolved: ResolvedOptions): MemberSpec {
  const listen = { host, port }
  if (setName === null) return { ...mongodSpec(resolved, standaloneAddress), listen }
  return { ...memberSpec(mongodSpec(resolved, setName), 1), listen }
}
