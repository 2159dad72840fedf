import { emptyDocument, exchange, type Empty, type ErrorField } from './exchange.js'

/** Requests by which faults are applied. */
export const faultExchanges = {
  /**
   * Turns something in a member on or off. `stepped-down` (shards and config server): it is no primary until the switch is off again.
   * `frozen-routes` (routers): it learns no placement.
   */
  'faults.switch': exchange<{ name: 'stepped-down' | 'frozen-routes'; on: boolean }, Empty>(
    { name: 'stepped-down', on: true },
    {},
  ),
  /**
   * A command about the cluster as a whole, from a router to the address `cluster`. `verb`: apply, list or heal; `body`: the client's command.
   * `reply` has what the answer has beside `ok`.
   */
  'cluster.faults': exchange<{ verb: string; body: Uint8Array }, { reply: Uint8Array; error: ErrorField }>(
    { verb: 'list', body: emptyDocument },
    { reply: emptyDocument, error: null },
  ),
}
