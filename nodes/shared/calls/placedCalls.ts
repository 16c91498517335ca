import { BoundedMap } from '../boundedMap';
import { callKey } from './report';

const placed = new BoundedMap<true>(20_000);

/** Notes a call that this n8n process has placed. A report with its ID isn't forged. */
export function notePlaced(callId: unknown): void {
	if (typeof callId === 'string') placed.set(callKey(callId), true);
}

export function isPlacedHere(callId: string): boolean {
	return placed.has(callKey(callId));
}
