import { beforeSending } from '../../host/ledger/openLedger';
import type { Operation } from '../../host/run/operations';
import { recordOf } from '../../core/service/envelope';
import { isRejection } from '../../core/service/errors';
import { sendByProfile } from '../../core/profile/serviceProfile';
import { changeEachNumber, changeSettings } from '../changeEachNumber';
import { dndAgentsFields, ONE_AGENT, phoneField } from '../dndFields';

export const remove: Operation = {
	value: 'remove',
	name: 'Remove',
	action: 'Remove number from DND list',
	description: 'Let an agent call a number again',
	subtitle: 'allow calls to number',
	fields: [
		...dndAgentsFields,
		phoneField,
		{
			displayName: 'Ignore If Not Listed',
			name: 'treatNotListedAsDone',
			type: 'boolean',
			default: false,
			description:
				"Whether to continue if the number isn't on the list. Use this if the workflow may run again for the same number.",
			// A number is rarely on the lists of all agents.
			displayOptions: { show: ONE_AGENT },
		},
		changeSettings('remove'),
	],
	toolDescription:
		'Removes a phone number from the do-not-disturb list of an AI agent, so that the person may get real phone calls again. Use this only if the person has agreed to be called.',
	beforeSending,

	async execute(run) {
		return await changeEachNumber(run, 'removed', (form, list) => {
			const { agentUuid, phone, additions, agent } = list;
			const ignoreIfNotListed = form.switch('treatNotListedAsDone', agent !== undefined);
			return {
				send: async (account) => {
					const values = { agent: agentUuid, phone };
					const outcome = await sendByProfile('dnd.remove', account, values, additions).then(
						(response) => ({ was_listed: true, ...recordOf(response) }),
						(error: unknown) => {
							if (!ignoreIfNotListed || !isRejection(error, 'not_on_dnd_list')) throw error;
							return { was_listed: false, message: error.originalMessage ?? '' };
						},
					);
					return { deleted: true, agent_uuid: agentUuid, phone, ...outcome };
				},
			};
		});
	},
};
