import type { Additions } from '../core/service/endpoints';
import { InvalidInput } from '../core/service/errors';
import { parseAgentUuid, parseCampaignId } from '../core/service/parseIds';
import { LIMITS } from '../core/service/limits';
import type { OperationRun } from '../host/run/operations';
import { readAdditions } from '../host/forms/options';
import { mayNameRow } from '../host/caller/rows';
import { forEachWithPauses } from '../core/values/pauses';
import { rowNumberIn } from '../core/values/sheetCells';
import { parseList } from '../core/values/values';
import type { CampaignTarget } from './push/sendRows';
import type { ColumnChoice } from './push/columns';
import { pushFields } from './properties';

export type PushSettings = {
	campaign: CampaignTarget;
	columns: ColumnChoice;
	contactsPerRequest: number;
	additions: Additions;
	/** Send nothing. */
	checksOnly: boolean;
	/** Whether to push a number to the campaign once over all executions of the workflow. */
	skipPushedBefore: boolean;
	/** Whether *Pushed* has the summary. */
	isSummary: boolean;
};

/** Settings apply to the whole push, so they are read from the first row. */
export async function readPushSettings(run: OperationRun): Promise<PushSettings> {
	await requireSameForAllRows(run);
	const form = run.parameters.at(0);
	const whatToDo = form.choice('whatToDo', 'check');
	const options = form.collection('options');
	const phone = form.text('phoneColumn');
	if (phone === '') {
		throw new InvalidInput(
			"'Phone Column' is empty, so nothing was sent",
			'Enter the name of the column with the phone numbers.',
		);
	}
	return {
		campaign: {
			id: parseCampaignId(form.text('campaignId')),
			agentUuid: parseAgentUuid(form.text('agentUuid')),
			enqueue: whatToDo === 'release',
		},
		columns: {
			phone,
			personName: form.text('personNameColumn'),
			others: options.has('columnsToSend') ? parseList(options.textOrList('columnsToSend')) : 'all',
		},
		contactsPerRequest: options.wholeNumber('contactsPerRequest') ?? LIMITS.contactsPerRequest,
		additions: readAdditions(options),
		checksOnly: whatToDo !== 'release' && whatToDo !== 'wait',
		skipPushedBefore: form.choice('numbersPushedBefore', 'skipNumbers') !== 'pushAgain',
		isSummary: options.choice('output', 'rows') === 'summary',
	};
}

/**
 * A row for another campaign, for example, must not end up in the campaign of the first row. A tool reads no field by row.
 *
 * @throws InvalidInput if a field differs between rows
 */
async function requireSameForAllRows({ context, caller }: OperationRun): Promise<void> {
	if (caller.kind === 'model') return;
	const { parameters } = context.getNode();
	const items = context.getInputData();
	const rowAt = (index: number) => rowNumberIn(items[index]?.json ?? {}) ?? index + 1;
	for (const { name, displayName } of pushFields) {
		if (!mayNameRow(parameters[name])) continue;
		const valueAt = (index: number) => JSON.stringify(context.getNodeParameter(name, index, null));
		const first = valueAt(0);
		await forEachWithPauses(items.keys(), (index) => {
			if (valueAt(index) === first) return;
			throw new InvalidInput(
				`'${displayName}' differs between rows (row ${rowAt(0)} and row ${rowAt(index)}), so nothing was sent`,
				`A push has one value of '${displayName}' for all rows. Enter a fixed value, such as the name of a column instead of the expression {{ $json.phone }}. Or split the rows first, for example with a Switch or Loop Over Items node.`,
			);
		});
	}
}
