export type { Access, Entrant, IndexRules, NodeRole, RoutedBy } from './host/node-host.js'
