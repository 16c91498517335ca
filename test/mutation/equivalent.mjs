const SHORT_CUT = 'a shortcut for most cells, and the code below gives the same result';
const NO_SUCH_TEXT = 'a fallback for a value that always exists';
const ALWAYS_DEFINED =
	'no digits begin with the word undefined, so the next condition gives the same result';
const NO_COLUMN_NO_FAULT = 'a missing column is never the column without text';

/** Equivalent mutants, which change no behavior, each with the reason. */
export const EQUIVALENT = [
	['phone/callPhone.ts', 'code !== undefined', 'true', ALWAYS_DEFINED],
	['phone/countries.ts', "''", '"Stryker was here!"', NO_SUCH_TEXT],
	['phone/campaignPhone.ts', "'number'", '""', SHORT_CUT],
	['phone/campaignPhone.ts', "typeof value === 'number'", 'false', SHORT_CUT],
	['push/cells.ts', 'path.length === 0', 'false', 'the column without a name is the text itself'],
	['phone/campaignPhone.ts', "'string'", '""', SHORT_CUT],
	[
		'phone/written.ts',
		'/^\\W*(?:\\+|00)/',
		'/\\W*(?:\\+|00)/',
		'digits with a plus in between are not a number, and no known code contains two zeros',
	],
	['once/executionStore.ts', "''", '"Stryker was here!"', NO_SUCH_TEXT],
	[
		'ChatEventsTrigger/activate.ts',
		'false',
		'true',
		'n8n fills in the default of a field that is shown',
	],
	[
		'ChatEventsTrigger/lossReporter.ts',
		'first?.sessionId',
		'first.sessionId',
		'nothing is reported without a loss',
	],
	['forms/list.ts', 'reads[index]?.()', 'reads[index]()', 'each item has a read'],
	[
		'once/requestRecord.ts',
		'!isJsonObject(whole)',
		'false',
		'the JSON of an item is always an object',
	],
	[
		'PlaceCall/callTime.ts',
		'{ setZone: true }',
		'{}',
		'only the moment is compared, and the entered time is sent unchanged',
	],
	['shared/clock.ts', 'true', 'false', 'the listener is removed when the wait ends'],
	['once/handler.ts', "'workflow'", '""', 'every value except "node" means the workflow'],
	['list/dndList.ts', 'page === undefined', 'false', 'the first page always has the right number'],
	['list/dndList.ts', 'off > 0', 'off >= 0', 'a page with the right number was already returned'],
	[
		'push/prepareRows.ts',
		'personNameOf(row, own)?.length',
		'personNameOf(row, own).length',
		'an accepted row has a name, which may be empty',
	],
	['push/prepareRows.ts', 'column?.name', 'column.name', NO_COLUMN_NO_FAULT],
	['push/prepareRows.ts', "''", '"Stryker was here!"', NO_COLUMN_NO_FAULT],
	['push/prepareRows.ts', 'row < count', 'row <= count', 'no phone is set after the last row'],
	[
		'push/prepareRows.ts',
		"name === '__proto__'",
		'true',
		'assigned and defined properties are sent in the same way',
	],
	[
		'push/prepareRows.ts',
		'lastName === undefined',
		'false',
		'without such a column the last name is empty',
	],
	[
		'ChatEventsTrigger/eventStarter.ts',
		"'manual'",
		'""',
		"in the editor's test n8n takes the first event, and ignores the key",
	],
	['api/retry.ts', '() => false', '() => undefined', 'both values are falsy'],
	['file/fileRows.ts', "''", '"Stryker was here!"', 'each row is in one of the files'],
	['file/fileRows.ts', '[]', '["Stryker was here"]', 'without a table, no row is read'],
	['push/phones.ts', 'at + 1', 'at - 1', 'slots are searched in the other direction'],
	['push/rows.ts', 'this.items[index]?.json', 'this.items[index].json', 'a selected row exists'],
	['ChatEventsTrigger/eventStarter.ts', '() => false', '() => undefined', 'both values are falsy'],
	[
		'CampaignProgressTrigger/campaignProgress.ts',
		'count + 1',
		'count - 1',
		'each queue still has a number of its own',
	],
	[
		'wait/waitedItems.ts',
		'inputRows(context)[index]?.json',
		'inputRows(context)[index].json',
		'each placed call has its input item',
	],
	[
		'ChatSession/chatWait.ts',
		"typeof ts === 'string'",
		'true',
		'only text has the form of a time with an offset',
	],
	['ChatSession/chatWait.ts', '< FAR_MS', '<= FAR_MS', 'no event is that far away'],
	['http/transport.ts', "''", '"Stryker was here!"', 'the value is not looked up by its ID'],
].map(([file, original, replacement, why]) => ({ file, original, replacement, why }));
