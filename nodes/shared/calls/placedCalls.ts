import { BoundedMap } from '../boundedMap';
import { callKey } from './report';

const placed = new BoundedMap<true>(20_000);

/** Place Call tells which calls this n8n process has placed: whoever reports one of them has not made up its ID. */
export function notePlaced(callId: unknown): void {
	if (typeof callId === 'string') placed.set(callKey(callId), true);
}

export function isPlacedHere(callId: string): boolean {
	return placed.has(callKey(callId));
}
