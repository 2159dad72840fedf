import { exchange, type Empty } from './exchange.js'

/** Requests that tell the members of a copied cluster where they are now. */
export const relocationExchanges = {
  /** Members that were reached at `from` are reached at `to`: pairs of `host:port`. */
  'config.relocate': exchange<{ moved: readonly (readonly [from: string, to: string])[] }, Empty>(
    { moved: [['127.0.0.1:27018', '127.0.0.1:27118']] },
    {},
  ),
  /** Where a shard reaches the config server: `set/host:port`. */
  'shard.relocate': exchange<{ configHost: string }, Empty>({ configHost: 'config/127.0.0.1:27019' }, {}),
}
