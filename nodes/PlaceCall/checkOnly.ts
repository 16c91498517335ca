import type { INodeProperties } from 'n8n-workflow';
import { agentChecker } from '../core/dnd/checkAgent';
import { type Explanation, onScreenOnly, USER } from '../core/service/resolution';
import { plainText } from '../core/values/values';
import type { Fields } from '../host/forms/fields';
import type { AccountClient } from '../host/http/accountClient';
import type { CheckedCall } from './fields/readCallForm';
import { NotPlaced } from './notPlaced';
import { scheduledTime } from './callTime';

const CHECK = 'check';

export const whatToDo: INodeProperties = {
	displayName: 'What to Do',
	name: 'whatToDo',
	type: 'options',
	noDataExpression: true,
	options: [
		{ name: 'Place Calls', value: 'place' },
		{
			name: 'Check Only',
			value: CHECK,
			description:
				"Calls nobody. The output shows who would be called, and when, without 'Limit Calls per Person'.",
		},
	],
	default: 'place',
	description: 'Whether to call, or to see first who would be called',
};

/** Hides a text about calls if nobody is called. */
export const HIDDEN_IN_CHECK = { [whatToDo.name]: [CHECK] };

export const checkNotice: INodeProperties = {
	displayName:
		'This node checks the items, and calls nobody. Look at the output, and then choose <b>Place Calls</b>.',
	name: 'checkNotice',
	type: 'notice',
	default: '',
	displayOptions: { show: HIDDEN_IN_CHECK },
};

export function readChecksOnly(form: Fields): boolean {
	return form.has(whatToDo.name) && form.choice(whatToDo.name, '') === CHECK;
}

/** *Check Only*: nobody is called. */
export class CheckOnly {
	/** The numbers that the check found to be possible, by agent. */
	private readonly numbers = new Map<string, string[]>();

	/** Why a call that is possible isn't placed. */
	instead(scheduledAt: unknown, zone: string): NotPlaced {
		const message = "The call wasn't placed, because 'What to Do' is 'Check Only'";
		const at = scheduledAt === undefined ? undefined : plainText(scheduledAt);
		const would_call_at = scheduledTime({}, at, zone) ?? 'now';
		const forModel = `Do not repeat this request. Tell ${USER} that this tool only checks the request, which is valid (time of the call: ${would_call_at}), and knows nothing of the agent or its do-not-disturb list.`;
		const reason = { not_placed_reason: 'check_only', would_call_at } as const;
		return new NotPlaced(message, { onScreen: '', forModel }, reason, true);
	}

	/** Notes a call that is possible. */
	add({ request: { agent_uuid, phone_number }, phoneKey }: CheckedCall): void {
		const numbers = this.numbers.get(agent_uuid) ?? [];
		numbers.push(phoneKey === null ? phone_number : `+${phoneKey}`);
		this.numbers.set(agent_uuid, numbers);
	}

	/** What the service would say about each agent. */
	async agentHints(account: () => Promise<AccountClient>): Promise<Explanation[]> {
		if (this.numbers.size === 0) return [];
		const check = agentChecker(await account());
		const hints: Explanation[] = [];
		for (const [agentUuid, phones] of this.numbers) {
			const texts = await check(agentUuid, { phones, what: 'number' });
			const about = this.numbers.size > 1 ? `${agentUuid}: ` : '';
			hints.push({ message: `${about}${texts.join(' ')}`, resolution: onScreenOnly('') });
		}
		return hints;
	}
}
