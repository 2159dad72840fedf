import { exchange, type ErrorField } from './exchange.js'

export const measuredExchanges = {
  /**
   * `ranges`: eight doubles for each (`SizedRange`). The shard adds the part inside its own chunks,
   * or removes it, and answers with the amount.
   */
  'shard.measure': exchange<
    { ns: string; ranges: Uint8Array },
    { documents: number; bytes: number; error: ErrorField }
  >({ ns: 'test.c', ranges: new Uint8Array(64) }, { documents: 1, bytes: 40, error: null }),
}
