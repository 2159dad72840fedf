/** Whether a cursor stays open at the end of its collection, and whether getMore waits there. */
export type TailableMode = 'no' | 'tailable' | 'await-data'
