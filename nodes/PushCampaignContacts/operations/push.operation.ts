import { mayHavePushed } from '../pushRecord';
import type { OnlyOperation } from '../../host/run/operations';
import { pushFields } from '../properties';
import { pushRows } from '../push';
import { pushForModel } from '../pushForModel';
import { notBegun } from '../output';

export const push: OnlyOperation = {
	fields: pushFields,
	toolDescription:
		'Adds people to a calling campaign, whose AI agent places real phone calls to them once they are released, which cost money. Use this only for people who should be called. Returns how many people were added, and the reason for each person who was not.',
	toolDescriptionOfCheck:
		'Checks whether people can be added to a calling campaign: their phone numbers, the campaign, and its AI agent. Calls nobody and changes nothing. Returns how many people are ready, and the reason for each person who is not.',
	mayHaveSent: mayHavePushed,

	async execute(run) {
		return run.caller.kind === 'model' ? await pushForModel(run) : await pushRows(run);
	},

	notBegun,
};
