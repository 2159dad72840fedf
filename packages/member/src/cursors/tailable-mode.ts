export type TailableMode = 'no' | 'tailable' | 'await-data'
