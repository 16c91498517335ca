import { type Checked, isUnset, problem, quoted } from '../values';
import { givenAs } from '../modelForms';
import { InvalidInput } from './errors';
import { AGENT_UUID, CALL_ID } from './limits';
import type { Resolution } from './modelAdvice';

const WHOLE_NUMBER = /^\d+$/;

export function agentUuid(value: unknown): Checked<string> {
	if (isUnset(value)) {
		return problem(
			'Agent is empty',
			givenAs('Agent', 'Choose the agent from the list, or enter its ID.'),
		);
	}
	const id = String(value).trim();
	if (AGENT_UUID.test(id)) return { value: id };
	return problem(
		`Agent holds ${quoted(value)}, which is not an agent ID`,
		givenAs(
			'Agent',
			'Choose the agent from the list, or enter its ID: it begins with "agent_", followed by letters, digits, hyphens or underscores.',
		),
	);
}

/** @throws InvalidInput unless it has the documented form */
export function parseAgentUuid(value: unknown): string {
	const checked = agentUuid(value);
	if ('value' in checked) return checked.value;
	throw new InvalidInput(checked.problem.what, checked.problem.resolution);
}

/** @throws InvalidInput when it cannot be the ID of a call */
export function parseCallId(value: unknown): string {
	const text = filled(
		value,
		'Call ID',
		givenAs('Call ID', 'Enter the call_id that Place Call returns.'),
	);
	if (CALL_ID.test(text)) return text;
	throw new InvalidInput(
		`Call ID holds ${quoted(value)}, which is not the ID of a call`,
		givenAs(
			'Call ID',
			'Enter the call_id that Place Call returns, such as 6f1c2a34-9b1e-4c55-8f0a-2d7f3c1b9e00.',
		),
	);
}

/** @throws InvalidInput unless it is a whole number; `label` is the field's name on the screen */
export function parseWholeNumber(value: unknown, label: string, resolution: Resolution): number {
	const text = filled(value, label, resolution);
	const number = WHOLE_NUMBER.test(text) ? Number(text) : NaN;
	if (Number.isSafeInteger(number)) return number;
	throw new InvalidInput(
		`${label} holds ${quoted(value)}, which is not a whole number`,
		resolution,
	);
}

/** @throws InvalidInput unless it is a whole number from 1 on */
export function parseCount(value: unknown, label: string, resolution: Resolution): number {
	const count = parseWholeNumber(value, label, resolution);
	if (count > 0) return count;
	throw new InvalidInput(`${label} is 0`, resolution);
}

export function parseCampaignId(value: unknown): number {
	return parseWholeNumber(
		value,
		'Campaign ID',
		givenAs('Campaign ID', 'Enter the number of the campaign alone, such as 42.'),
	);
}

export function parseContactListId(value: unknown): number {
	return parseWholeNumber(
		value,
		'Contact List ID',
		givenAs(
			'Contact List ID',
			'Enter the campaign_upload_id alone, such as 314. Push Campaign Contacts returns it.',
		),
	);
}

function filled(value: unknown, label: string, resolution: Resolution): string {
	if (isUnset(value)) throw new InvalidInput(`${label} is empty`, resolution);
	return asText(value);
}

/** What a field or its expression gave, as text without white space around it. */
export function asText(value: unknown): string {
	if (value === undefined || value === null) return '';
	return typeof value === 'string' ? value.trim() : JSON.stringify(value);
}
