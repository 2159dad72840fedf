import type { LiveMember } from '@shardlab/dashboard'
import type { MemberInfo, Runtime } from '@shardlab/runtime'

/** A paused member does not answer. */
const describeTimeoutMs = 1000

/** The members as the runtime has them, with the states that they have in their sets. */
export class LiveMembers {
  readonly #runtime: Runtime
  /** Of members that run, as they have reported it last. */
  readonly #setStates = new Map<string, string>()

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  all(): LiveMember[] {
    return this.#runtime.members().map((member) => ({
      ...{ address: member.address, set: member.set, role: member.role, state: member.state },
      ...{ setState: this.#setStateOf(member), endpoint: member.endpoint },
      machine: member.machine ?? null,
    }))
  }

  noteState(member: string, state: string): void {
    this.#setStates.set(member, state)
  }

  noteEnd(member: string): void {
    this.#setStates.delete(member)
  }

  /** They are asked for again. */
  forgetStates(): void {
    this.#setStates.clear()
  }

  /** Asks those that have reported no state: it was before anything was recorded. */
  async askStates(): Promise<void> {
    const unknown = this.#runtime.members().filter((member) => isInSet(member) && !this.#setStates.has(member.address))
    await Promise.all(unknown.map(({ address }) => this.#askState(address)))
  }

  async #askState(address: string): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const silence = new Promise<null>((resolve) => (timer = setTimeout(() => resolve(null), describeTimeoutMs).unref()))
    try {
      const described = await Promise.race([this.#runtime.describe(address), silence])
      const state = described?.['state']
      if (typeof state === 'string' && !this.#setStates.has(address)) this.#setStates.set(address, state)
    } catch {
      // It has gone down since.
    } finally {
      clearTimeout(timer)
    }
  }

  #setStateOf(member: MemberInfo): string | null {
    return isInSet(member) ? (this.#setStates.get(member.address) ?? null) : null
  }
}

const isInSet = ({ address, set, state }: MemberInfo): boolean => address !== set && state === 'running'
