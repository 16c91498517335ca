import { nested } from './nested';
import { plain } from './plain';
import { terse } from './terse';
import { wrapped } from './wrapped';

/** Equally legal readings of the service document; tests run against each. */
export const dialects = { plain, terse, wrapped, nested };
export type { Dialect } from './types';
