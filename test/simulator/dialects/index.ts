import { nested } from './nested';
import { plain } from './plain';
import { terse } from './terse';
import { wrapped } from './wrapped';

/** Equally valid readings of the contract. Tests run against each of them. */
export const dialects = { plain, terse, wrapped, nested };
export type { Dialect } from './types';
