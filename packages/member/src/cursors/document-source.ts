export interface DocumentSource {
  /** null: the end */
  next(): Uint8Array | null
  /**
   * Whether the source knows, without reading on, that nothing is left. As on the server, a cursor
   * whose batch ends exactly with the last document stays open unless this is true. Absent: the
   * source never knows.
   */
  readonly isEOF?: boolean
}
