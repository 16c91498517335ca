import { isUnset, quoted } from '../../shared/values';
import { InvalidInput } from '../../shared/api/errors';
import { parseAgentUuid, parseCampaignId } from '../../shared/api/identifiers';
import { LIMITS } from '../../shared/api/limits';

/** Where the whole feed goes. */
export type Campaign = { id: number; agentUuid: string; enqueue: boolean };

/** @throws InvalidInput naming the field that must change */
export function checkCampaign(id: unknown, agent: unknown, enqueue: unknown): Campaign {
	return {
		id: parseCampaignId(id),
		agentUuid: parseAgentUuid(agent),
		enqueue: checkedEnqueue(enqueue),
	};
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
