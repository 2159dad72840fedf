/** Server: keys_collection_client_sharded.cpp. */
import { configAddress } from '@shardlab/actor'
import { readTimeKey, TimeSigner } from '@shardlab/auth'
import { CommandError } from '@shardlab/bson'
import { accessRulesOf, type TimeKeySource } from '@shardlab/member'
import type { RoutingHost } from '../host/mongos-host.js'

/** The keys of cluster times, which the config server creates. */
export class RouterTimeKeys implements TimeKeySource {
  readonly signer: TimeSigner
  readonly #host: RoutingHost
  /** Null: no request is under way. */
  #reading: Promise<void> | null = null

  constructor(host: RoutingHost) {
    this.#host = host
    this.signer = new TimeSigner(accessRulesOf(host.behaviours), () => host.context.detach(this.#readOnce()))
  }

  /**
   * Call before a command of a client: without keys its time would be refused, although another
   * router has signed it.
   * @returns null: keys are known
   */
  awaitFirst(): Promise<void> | null {
    return this.signer.keys.length > 0 ? null : this.#readOnce()
  }

  #readOnce(): Promise<void> {
    return (this.#reading ??= this.#read().finally(() => (this.#reading = null)))
  }

  async #read(): Promise<void> {
    try {
      const { keys } = await this.#host.remote.request(configAddress, 'config.get-time-keys', {}, null)
      this.signer.learn(keys.flatMap((document) => readTimeKey(document) ?? []))
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
    }
  }
}
