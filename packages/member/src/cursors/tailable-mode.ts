/** Does the cursor go on when its collection does, and does getMore wait for that? */
export type TailableMode = 'no' | 'tailable' | 'await-data'
