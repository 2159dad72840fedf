import { Packr } from 'msgpackr'

/** With typed arrays. */
const packr = new Packr({ useRecords: false, moreTypes: true })

export const pack = (value: unknown): Uint8Array => packr.pack(value)
export const unpack = <Value>(bytes: Uint8Array): Value => packr.unpack(bytes) as Value
