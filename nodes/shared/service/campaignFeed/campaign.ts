import { agentUuid, isUnset, quoted } from '../callRequestFields';
import { InvalidInput } from '../explained';
import { LIMITS } from '../limits';

/** Where the whole feed goes. */
export type Campaign = { id: number; agentUuid: string; enqueue: boolean };

const WHOLE_NUMBER = /^\d+$/;

/** @throws InvalidInput naming the field that must change */
export function checkCampaign(id: unknown, agent: unknown, enqueue: unknown): Campaign {
	return { id: campaignId(id), agentUuid: checkedAgent(agent), enqueue: checkedEnqueue(enqueue) };
}

function campaignId(value: unknown): number {
	if (isUnset(value)) {
		throw new InvalidInput(
			'Campaign ID is empty, so nothing was sent',
			'Enter the number of the campaign, which is in its address in your dashboard.',
		);
	}
	const text = typeof value === 'number' ? String(value) : value;
	const id = typeof text === 'string' && WHOLE_NUMBER.test(text.trim()) ? Number(text) : NaN;
	if (Number.isSafeInteger(id)) return id;
	throw new InvalidInput(
		`Campaign ID holds ${quoted(value)}, which is not a whole number, so nothing was sent`,
		'Enter the number of the campaign alone, such as 42. It is in the campaign’s address in your dashboard.',
	);
}

function checkedAgent(value: unknown): string {
	const checked = agentUuid(value);
	if ('value' in checked) return checked.value;
	const { what, todo } = checked.problem;
	throw new InvalidInput(`${what}, so nothing was sent`, todo);
}

function checkedEnqueue(value: unknown): boolean {
	if (typeof value === 'boolean') return value;
	// Guessing here could release a whole list of people to be called.
	throw new InvalidInput(
		`Release to Calling Queue holds ${quoted(value)}, which is neither on nor off, so nothing was sent`,
		'Use the switch, or an expression that gives true or false.',
	);
}

/** The documented most, unless a smaller number was asked for. */
export function checkContactsPerRequest(value: unknown): number {
	const most = LIMITS.contactsPerRequest;
	const count = isUnset(value) ? most : Number(value);
	if (Number.isInteger(count) && count >= 1 && count <= most) return count;
	throw new InvalidInput(
		`Contacts per Request holds ${quoted(value)}, so nothing was sent`,
		`Enter a whole number from 1 to ${most.toLocaleString('en-US')}, which is the most that the service takes.`,
	);
}
