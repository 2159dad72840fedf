import { exchange, type Empty } from './exchange.js'

/** Requests that send the members of a copied cluster their new addresses. */
export const relocationExchanges = {
  /** Members moved from one `host:port` to another. */
  'config.relocate': exchange<{ moved: readonly (readonly [from: string, to: string])[] }, Empty>(
    { moved: [['127.0.0.1:27018', '127.0.0.1:27118']] },
    {},
  ),
  /** The new connection string of the config server, `set/host:port`. */
  'shard.relocate': exchange<{ configHost: string }, Empty>({ configHost: 'config/127.0.0.1:27019' }, {}),
}
