/** In names of temporary collections, in which shards collect a collection under its new key. */
export const temporaryPart = '.system.resharding.'

export function splitNamespace(ns: string): readonly [db: string, name: string] {
  const dot = ns.indexOf('.')
  return [ns.slice(0, dot), ns.slice(dot + 1)]
}
