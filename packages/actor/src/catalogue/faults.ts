import { emptyDocument, exchange, type Empty, type ErrorField } from './exchange.js'

export const faultExchanges = {
  /**
   * `stepped-down` (shards and config server): the member is not a primary. `frozen-routes`
   * (routers): it does not refresh placements.
   */
  'faults.switch': exchange<{ name: 'stepped-down' | 'frozen-routes'; on: boolean }, Empty>(
    { name: 'stepped-down', on: true },
    {},
  ),
  /**
   * A client's command `shardlab` about faults or copies, from a router to the address `cluster`.
   * `reply`: the fields of the answer except `ok`.
   */
  'cluster.command': exchange<{ verb: string; body: Uint8Array }, { reply: Uint8Array; error: ErrorField }>(
    { verb: 'list', body: emptyDocument },
    { reply: emptyDocument, error: null },
  ),
}
