import { exchange, type Empty } from './exchange.js'

/** Send the members of a copied cluster their new addresses, each as `host:port`. */
export const relocationExchanges = {
  'config.relocate': exchange<{ moved: readonly (readonly [from: string, to: string])[] }, Empty>(
    { moved: [['127.0.0.1:27018', '127.0.0.1:27118']] },
    {},
  ),
  'shard.relocate': exchange<{ configHost: string }, Empty>({ configHost: 'config/127.0.0.1:27019' }, {}),
}
