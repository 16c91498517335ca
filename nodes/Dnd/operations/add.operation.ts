import { MAY_BE_BLANK } from '../../host/forms/fields';
import { beforeSending } from '../../host/ledger/openLedger';
import type { Operation } from '../../host/run/operations';
import { recordOf } from '../../core/service/envelope';
import { sendByProfile } from '../../core/profile/serviceProfile';
import { changeEachNumber, changeSettings } from '../changeEachNumber';
import { dndAgentsFields, phoneField } from '../dndFields';

export const add: Operation = {
	value: 'add',
	name: 'Add',
	action: 'Add number to DND list',
	description: 'Stop an agent from calling a number, including in running campaigns',
	subtitle: 'stop calls to number',
	fields: [
		...dndAgentsFields,
		phoneField,
		{
			displayName: 'Reason',
			name: 'reason',
			type: 'string',
			default: '',
			placeholder: 'e.g. asked on the phone',
			description:
				'Why the number is on the list. Leave empty if your service has no reason field.',
		},
		changeSettings('add'),
	],
	toolDescription:
		'Adds a phone number to the do-not-disturb list of an AI agent. The agent then never calls it, not even in running campaigns. Use this when a person does not want to be called.',
	beforeSending,

	async execute(run) {
		return await changeEachNumber(run, 'added', (form, { agentUuid, phone, additions }) => {
			const reason = form.text('reason', MAY_BE_BLANK);
			return {
				more: { reason },
				// The response isn't documented, so it's returned unchanged.
				send: async (account) =>
					recordOf(
						await sendByProfile('dnd.add', account, { agent: agentUuid, phone, reason }, additions),
					),
			};
		});
	},
};
