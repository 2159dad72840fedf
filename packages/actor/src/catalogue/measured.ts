import { exchange, type ErrorField } from './exchange.js'

export const measuredExchanges = {
  /**
   * `ranges`: six doubles for each (`SizedRange`). The shard adds the part inside its own chunks,
   * and answers with its amount.
   */
  'shard.measure': exchange<
    { ns: string; ranges: Uint8Array },
    { documents: number; bytes: number; error: ErrorField }
  >({ ns: 'test.c', ranges: new Uint8Array(48) }, { documents: 1, bytes: 40, error: null }),
}
