/** The name may contain dots. */
export function splitNamespace(ns: string): [db: string, name: string] {
  const dot = ns.indexOf('.')
  return [ns.slice(0, dot), ns.slice(dot + 1)]
}

/** A name without a dot is a database. */
export function databaseNameOf(ns: string): string {
  const dot = ns.indexOf('.')
  return dot < 0 ? ns : ns.slice(0, dot)
}
