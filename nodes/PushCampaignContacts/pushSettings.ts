import type { Additions } from '../shared/api/endpoints';
import { InvalidInput } from '../shared/api/errors';
import { forEveryone, onScreenOnly } from '../shared/api/modelAdvice';
import { parseAgentUuid, parseCampaignId } from '../shared/api/parseIds';
import { LIMITS } from '../shared/api/limits';
import { type Fields, MAY_BE_BLANK } from '../shared/n8n/forms/fields';
import { readEachItem } from '../shared/n8n/run/itemLoop';
import type { StoreUse } from '../shared/n8n/idempotency/nodeStore';
import type { OperationRun } from '../shared/n8n/run/operations';
import { readAdditions } from '../shared/n8n/forms/options';
import { runsAsTool } from '../shared/n8n/tools/toolRun';
import { quoted } from '../shared/values';
import { columnNames } from './push/cells';
import type { ColumnChoice } from './push/columns';
import type { CampaignTarget } from './push/pushTypes';
import { contactsFrom } from './inputRows';
import { isRowIndependent } from './rowIndependent';

export type PushSettings = {
	campaign: CampaignTarget;
	columns: ColumnChoice;
	normalizePhones: boolean;
	removeDuplicates: boolean;
	contactsPerRequest: number;
	additions: Additions;
	/** Everything is checked and nothing is sent. */
	dryRun: boolean;
	/** Whether a number goes into the campaign once over all runs of the workflow. */
	skipPushedBefore: boolean;
	/** Whether to find out what became of a request whose outcome is unknown. */
	lookUpUnknown: boolean;
};

/** What *Skip Numbers Pushed Before* remembers its numbers in. */
export const PUSHED_NUMBERS_STORE: StoreUse = {
	message:
		"n8n's memory of the numbers pushed before can't be read or written, so what is left of the push was not sent",
	description:
		"Save the workflow and try again. If that doesn't help, ask your n8n administrator to check the database, or turn off 'Skip Numbers Pushed Before'.",
};

/** How the outcome is shown. */
export type OutputOptions = {
	output: 'requests' | 'summary' | 'rows';
	withDuplicates: boolean;
};

export const defaultOutputOptions: OutputOptions = { output: 'requests', withDuplicates: false };

/** Settings hold for the whole push and are read once, from its first row. */
const FIRST = 0;

export function readOutputOptions(form: Fields): OutputOptions {
	const options = form.collection('options');
	const chosen = options.choice('output', 'requests');
	const output = chosen === 'summary' || chosen === 'rows' ? chosen : 'requests';
	const withDuplicates = options.switch('reportDuplicates', false);
	// With an item a row, each row comes out of one of both outputs.
	return { output, withDuplicates: withDuplicates || output === 'rows' };
}

export async function readPushSettings(run: OperationRun): Promise<PushSettings> {
	await requireSameForAllRows(run, 'Campaign ID', 'campaignId', campaignOf);
	await requireSameForAllRows(run, 'Agent', 'agentUuid', agentOf);
	await requireSameForAllRows(run, 'Release to Calling Queue', 'enqueue', isReleased);
	const form = run.parameters.at(FIRST);
	const options = form.collection('options');
	const skipPushedBefore = options.switch('skipPushedBefore', false);
	const removeDuplicates = options.switch('removeDuplicates', true);
	return {
		campaign: {
			id: parseCampaignId(campaignOf(form)),
			agentUuid: parseAgentUuid(agentOf(form)),
			enqueue: isReleased(form),
		},
		columns: {
			phone: phoneColumn(form),
			personName: form.text('personNameColumn'),
			lastName: options.text('lastNameColumn'),
			others: readOtherColumns(form),
			computed: computedColumns(form),
			isTool: runsAsTool(run.context),
			from: contactsFrom(form),
		},
		normalizePhones: options.switch('normalizePhones', true),
		// Once over all runs is once in this one too.
		removeDuplicates: removeDuplicates || skipPushedBefore,
		contactsPerRequest: checkContactsPerRequest(
			options.number('contactsPerRequest', LIMITS.contactsPerRequest),
		),
		additions: readAdditions(options),
		dryRun: options.switch('dryRun', false),
		skipPushedBefore: skipPushedBefore,
		lookUpUnknown: options.choice('ifUnknown', 'fail') === 'lookUp',
	};
}

const campaignOf = (form: Fields) => form.textOrNumber('campaignId', MAY_BE_BLANK);
const agentOf = (form: Fields) => form.textOrNumber('agentUuid', MAY_BE_BLANK);
const isReleased = (form: Fields) => form.switch('enqueue', false);

function phoneColumn(form: Fields): string {
	const column = form.text('phoneColumn', MAY_BE_BLANK);
	if (column !== '') return column;
	throw new InvalidInput(
		'Phone Column is empty, so nothing was sent',
		onScreenOnly('Enter the name of the column that holds the phone numbers.'),
	);
}

/** Before columns could be dragged here, dragging one wrote an expression that gives a value of it. */
function computedColumns(form: Fields): Set<string> {
	const expressions = {
		'Phone Column': form.expression('phoneColumn'),
		'Person Name Column': form.expression('personNameColumn'),
		'Columns to Send': form.expression('columnsToSend'),
		'Last Name Column': form.collection('options').expression('lastNameColumn'),
	};
	const computed = Object.entries(expressions).filter(([, expression]) => expression !== '');
	return new Set(computed.map(([field]) => field));
}

function readOtherColumns(form: Fields): ColumnChoice['others'] {
	const choice = form.choice('otherColumns', 'all');
	if (choice !== 'listed') return choice === 'none' ? 'none' : 'all';
	const listed = form.textOrList('columnsToSend', MAY_BE_BLANK);
	const names = Array.isArray(listed) ? listed.map((name) => name.trim()) : columnNames(listed);
	const columns = names.filter((name) => name !== '');
	if (columns.length > 0) return columns;
	throw new InvalidInput(
		'Columns to Send is empty, so nothing was sent',
		onScreenOnly(
			'Enter the names of the columns to send, or choose another value in Other Columns.',
		),
	);
}

/** The documented most, unless a smaller number was asked for. */
function checkContactsPerRequest(count: number): number {
	const most = LIMITS.contactsPerRequest;
	if (Number.isInteger(count) && count >= 1 && count <= most) return count;
	throw new InvalidInput(
		`Contacts per Request holds ${quoted(count)}, so nothing was sent`,
		forEveryone(
			`Enter a whole number from 1 to ${most.toLocaleString('en-US')}, which is the most that the service takes.`,
		),
	);
}

/** A row that means another campaign must not silently land in that of the first row. */
async function requireSameForAllRows(
	{ context, parameters }: OperationRun,
	label: string,
	name: string,
	read: (form: Fields) => string | number | boolean | undefined,
): Promise<void> {
	if (isRowIndependent(parameters.at(FIRST).expression(name))) return;
	const readAt = (index: number) => String(read(parameters.at(index)) ?? '').trim();
	const first = readAt(FIRST);
	await readEachItem(context, (index) => {
		if (readAt(index) === first) return;
		throw new InvalidInput(
			`${label} is not the same for all rows (item ${index} differs from item ${FIRST}), so nothing was sent`,
			onScreenOnly(
				`One node run pushes to one campaign. Split the rows first, for example with a Switch or Loop Over Items node, or enter a fixed ${label}.`,
			),
		);
	});
}
