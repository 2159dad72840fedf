/** Why tests are skipped: each skipped test has one of these kinds of reason. */
export const skipKinds = {
  version: { title: 'other versions', about: 'is for other server versions' },
  topology: { title: 'other topologies', about: 'is for other topologies' },
  setup: { title: 'setup', about: 'needs users, no users, encryption or a server parameter' },
  feature: { title: 'feature', about: 'needs a feature that the server refuses' },
  wire: { title: 'wire version', about: "needs the version's own wire version" },
  driver: { title: 'driver', about: 'fails because the Node.js driver differs from the specification' },
  specification: {
    title: 'specification',
    about: 'is skipped by the specification, or expects more than the version does',
  },
} as const

export type SkipKind = keyof typeof skipKinds

export interface Skip {
  readonly kind: SkipKind
  readonly reason: string
}
