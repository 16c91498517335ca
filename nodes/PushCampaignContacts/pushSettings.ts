import type { Additions } from '../core/service/endpoints';
import { InvalidInput } from '../core/service/errors';
import { forEveryone, onScreenOnly } from '../core/service/resolution';
import { parseAgentUuid, parseCampaignId } from '../core/service/parseIds';
import { LIMITS } from '../core/service/limits';
import { readConsent } from '../host/forms/consentField';
import type { Fields } from '../host/forms/fields';
import type { OperationRun } from '../host/run/operations';
import { readAdditions } from '../host/forms/options';
import { callerOf } from '../host/caller/caller';
import { quoted } from '../core/values/values';
import { contactsFrom } from './readRows';
import type { CampaignTarget } from './push/sendRows';
import { columnNames } from './push/cells';
import type { ColumnChoice } from './push/columns';
import { requireSameForAllRows } from './sameForAllRows';

export type PushSettings = {
	campaign: CampaignTarget;
	columns: ColumnChoice;
	contactsPerRequest: number;
	additions: Additions;
	/** Send nothing. */
	checksOnly: boolean;
	/** Whether to push a number to the campaign once over all executions of the workflow. */
	skipPushedBefore: boolean;
};

/** What the *Pushed* output contains. */
export type Output = 'requests' | 'summary' | 'rows';

/** Settings apply to the whole push, so they are read from the first row. */
const FIRST = 0;

export function readOutput(form: Fields): Output {
	// A file can have more rows than n8n can store as items.
	const usual = contactsFrom(form) === 'csv' ? 'requests' : 'rows';
	const chosen = form.collection('options').choice('output', usual);
	return chosen === 'summary' || chosen === 'rows' ? chosen : 'requests';
}

export async function readPushSettings(run: OperationRun): Promise<PushSettings> {
	await requireSameForAllRows(run);
	const form = run.parameters.at(FIRST);
	const whatToDo = form.choice('whatToDo', 'check');
	const options = form.collection('options');
	const settings = form.collection('developerSettings');
	return {
		campaign: {
			id: parseCampaignId(form.text('campaignId')),
			agentUuid: parseAgentUuid(form.text('agentUuid')),
			enqueue: whatToDo === 'release',
		},
		columns: {
			phone: phoneColumn(form),
			personName: form.text('personNameColumn'),
			lastName: options.text('lastNameColumn'),
			others: readOtherColumns(form),
			consent: readConsentOfRows(run, options),
			isTool: callerOf(run.context).kind === 'model',
			from: contactsFrom(form),
		},
		contactsPerRequest: checkContactsPerRequest(
			settings.number('contactsPerRequest', LIMITS.contactsPerRequest),
		),
		additions: readAdditions(settings),
		checksOnly: whatToDo !== 'release' && whatToDo !== 'wait',
		skipPushedBefore: options.switch('skipPushedBefore', false),
	};
}

/** A model that writes the contacts would write the consent, too. */
function readConsentOfRows({ context, parameters }: OperationRun, options: Fields) {
	const consent = readConsent(options, context.getTimezone());
	const isModel = callerOf(context).kind === 'model';
	const isByModel = isModel && contactsFrom(parameters.at(FIRST)) !== 'items';
	if (consent === undefined || !isByModel) return consent;
	throw new InvalidInput(
		"With 'Consent', a model can't give the contacts, so nothing was sent",
		onScreenOnly("Set 'Contacts From' of the tool to 'Input Items', or remove 'Consent'."),
	);
}

function phoneColumn(form: Fields): string {
	const column = form.text('phoneColumn');
	if (column !== '') return column;
	throw new InvalidInput(
		"'Phone Column' is empty, so nothing was sent",
		onScreenOnly('Enter the name of the column with the phone numbers.'),
	);
}

function readOtherColumns(form: Fields): ColumnChoice['others'] {
	const choice = form.choice('otherColumns', 'all');
	if (choice !== 'listed') return choice === 'none' ? 'none' : 'all';
	const listed = form.textOrList('columnsToSend');
	const names = Array.isArray(listed) ? listed.map((name) => name.trim()) : columnNames(listed);
	const columns = names.filter((name) => name !== '');
	if (columns.length > 0) return columns;
	throw new InvalidInput(
		"'Columns to Send' is empty, so nothing was sent",
		onScreenOnly(
			"Enter the names of the columns to send, or choose another value in 'Other Columns'.",
		),
	);
}

function checkContactsPerRequest(count: number): number {
	const max = LIMITS.contactsPerRequest;
	if (Number.isInteger(count) && count >= 1 && count <= max) return count;
	throw new InvalidInput(
		`'Contacts per Request' must be a whole number from 1 to ${max.toLocaleString('en-US')} (got ${quoted(count)}). Nothing was sent`,
		forEveryone('Correct the number, or leave it out.'),
	);
}
