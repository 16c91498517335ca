import { asText, isUnset, quoted } from '../values/values';
import { InvalidInput } from './errors';
import { enter, type FormLabel } from './modelFormats';

/** The prefix and the characters of `agent_uuid` (`AgentUuid` in docs/openapi.yaml). */
export const AGENT_UUID = /^agent_[A-Za-z0-9_-]+$/;

/** The form of the IDs of calls and chat sessions. */
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A call ID is a UUID. This looser form accepts anything that is safe in a path. */
export const CALL_ID = /^[A-Za-z0-9_-]+$/;

const WHOLE_NUMBER = /^\d+$/;

/** @throws InvalidInput unless it's an `agent_uuid` */
export function parseAgentUuid(value: unknown): string {
	return parseId(value, 'Agent', AGENT_UUID, 'an agent ID');
}

/** @throws InvalidInput unless it can be a `call_id` */
export function parseCallId(value: unknown): string {
	return parseId(value, 'Call ID', CALL_ID, 'the ID of a call');
}

function parseId(value: unknown, label: FormLabel, form: RegExp, what: string): string {
	const resolution = enter(label);
	const id = filled(value, label, resolution);
	if (form.test(id)) return id;
	throw new InvalidInput(`'${label}' must be ${what} (got ${quoted(value)})`, resolution);
}

/**
 * @param label of the field on the screen
 * @throws InvalidInput unless it's a whole number of at least 0
 */
export function parseWholeNumber(value: unknown, label: string, resolution: string): number {
	const text = filled(value, label, resolution);
	const number = WHOLE_NUMBER.test(text) ? Number(text) : NaN;
	if (Number.isSafeInteger(number)) return number;
	throw new InvalidInput(`'${label}' must be a whole number (got ${quoted(value)})`, resolution);
}

/** @throws InvalidInput unless it's a whole number of at least 1 */
export function parseCount(value: unknown, label: string, resolution: string): number {
	const count = parseWholeNumber(value, label, resolution);
	if (count > 0) return count;
	throw new InvalidInput(`'${label}' must be at least 1`, resolution);
}

/** @param label the field's name on the screen */
export function parseCampaignId(
	value: unknown,
	label: 'Campaign' | 'Campaign ID' = 'Campaign',
): number {
	return parseWholeNumber(value, label, enter(label));
}

export function parseContactListId(value: unknown): number {
	return parseWholeNumber(value, 'Contact List ID', enter('Contact List ID'));
}

function filled(value: unknown, label: string, resolution: string): string {
	if (isUnset(value)) throw new InvalidInput(`'${label}' is empty`, resolution);
	return asText(value);
}
