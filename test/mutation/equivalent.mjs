const SHORT_CUT = 'a short cut for most cells; the reading below it comes to the same';
const NO_SUCH_TEXT = 'stands for what is always there, and no fingerprint or code is that text';
const ALWAYS_DEFINED =
	'no digits begin with the word undefined, so the next condition says the same';
const NO_COLUMN_NO_FAULT = 'a column that is not there is never the one without text';
const NO_FURTHER_PARTS =
	'of a total that is not there no parts can be counted, and an empty part is the last one';
const FILLED_IN = 'n8n itself gives a field that is shown its default';

/**
 * Mutants that change nothing that anyone could see, each with the reason, and with a part of the line where the file
 * has others like it.
 */
export const EQUIVALENT = [
	['request/callPhone.ts', 'code !== undefined', 'true', ALWAYS_DEFINED],
	['phone/callingCodes.ts', "''", '"Stryker was here!"', NO_SUCH_TEXT],
	['phone/campaignPhone.ts', "'number'", '""', SHORT_CUT],
	['phone/campaignPhone.ts', "typeof value === 'number'", 'false', SHORT_CUT],
	['feed/cells.ts', 'path.length === 0', 'false', 'the column of no name is the text itself'],
	['n8n/activeTriggers.ts', 'ms <= 0', 'ms < 0', 'a wait of no time comes to the same'],
	['phone/campaignPhone.ts', "'string'", '""', SHORT_CUT],
	['phone/written.ts', '!/[^\\x20-\\x7e]/.test(text)', 'false', SHORT_CUT],
	[
		'phone/written.ts',
		'/^\\W*(?:\\+|00)/',
		'/\\W*(?:\\+|00)/',
		'a plus between digits is no number, and no code that is known holds two zeros',
	],
	['n8n/executionMemory.ts', "''", '"Stryker was here!"', NO_SUCH_TEXT],
	[
		'n8n/executionEmitter.ts',
		'key !== undefined',
		'true',
		'nothing is ever looked up without a key',
	],
	['ChatEventsTrigger/activate.ts', 'false', 'true', FILLED_IN],
	['CallCompletedTrigger/onCompletion.ts', 'true', 'false', FILLED_IN],
	[
		'CallCompletedTrigger/onCompletion.ts',
		'[]',
		'["Stryker was here"]',
		'nothing that can be included has that name',
	],
	[
		'ChatEventsTrigger/losses.ts',
		'first?.sessionId',
		'first.sessionId',
		'nothing is told of no loss at all',
	],
	['n8n/list.ts', 'reads[index]?.()', 'reads[index]()', 'each item has its reading'],
	['n8n/once.ts', '[]', '["Stryker was here"]', 'without a place the record is passed over'],
	['n8n/once.ts', '!isJsonObject(whole)', 'false', 'what an item holds is always an object'],
	['feed/progress.ts', "''", '"Stryker was here!"', NO_SUCH_TEXT],
	[
		'chat/reconnectPolicy.ts',
		'end.code !== null',
		'true',
		'an end that comes from the other side always has a code',
	],
	['chat/connection.ts', "'stopped'", '""', 'a stopped connection is known by its signal as well'],
	['chat/inbox.ts', 'eventId !== null', 'true', 'what is kept without an ID is never looked up'],
	['shared/clock.ts', 'true', 'false', 'the listener is taken off when the wait ends'],
	['n8n/once.ts', 'place === undefined', 'false', 'a record without a place is of no row'],
	[
		'n8n/once.ts',
		'name === undefined',
		'false',
		'a name that is absent is made where it is needed',
	],
	['n8n/once.ts', "'workflow'", '""', 'whatever is not the word node means the workflow'],
	['list/dndList.ts', 'page === undefined', 'false', 'the first page is never off'],
	['list/dndList.ts', 'off > 0', 'off >= 0', 'a page that is not off has been given back by then'],
	['list/dndList.ts', 'pages !== undefined', 'true', 'what is not there is not less than two'],
	['list/wholeList.ts', 'national !== undefined', 'true', 'no digits end with the word undefined'],
	['api/paging.ts', "'Not asked for any more'", '""', 'nobody hears of what is not waited for'],
	[
		'feed/prepare.ts',
		'personNameOf(row, columns)?.length',
		'personNameOf(row, columns).length',
		'a row that is accepted has a name, be it an empty one',
	],
	['feed/prepare.ts', 'column?.name', 'column.name', NO_COLUMN_NO_FAULT],
	['feed/prepare.ts', "''", '"Stryker was here!"', NO_COLUMN_NO_FAULT],
	['feed/prepare.ts', 'row < count', 'row <= count', 'beyond the last row no phone is set'],
	[
		'feed/prepare.ts',
		"name === '__proto__'",
		'true',
		'a value travels alike whether it was assigned or defined',
	],
	[
		'feed/prepare.ts',
		'lastName === undefined',
		'false',
		'without such a column the last name is empty',
	],
	['calls/callPages.ts', "''", '"Stryker was here!"', 'it is read only where it must be set'],
	[
		'calls/callPages.ts',
		'total !== undefined',
		'true',
		'nothing reaches a total that is not there',
	],
	[
		'calls/callPages.ts',
		'next === undefined',
		'false',
		'where no part follows nobody asks which follow that one',
	],
	...['false', 'total === undefined && length === 0'].map((replacement) => [
		'calls/callPages.ts',
		'total === undefined || length === 0',
		replacement,
		NO_FURTHER_PARTS,
	]),
	['api/retry.ts', '() => false', '() => undefined', 'either says no'],
	[
		'n8n/executionEmitter.ts',
		'true',
		'false',
		'of a key that was used only its presence is read',
		'recentKeys.set(key, true)',
	],
	['n8n/writeAheadLog.ts', 'remove.length > 0', 'true', 'of nothing nothing is removed'],
	[
		'n8n/writeAheadLog.ts',
		"''",
		'"Stryker was here!"',
		'each request has its text',
		"request = ''",
	],
	[
		'api/readPace.ts',
		'this.inFlight >= this.maxInFlight',
		'false',
		'a read that is admitted too early checks again, and waits on',
	],
	[
		'calls/callPages.ts',
		'this.form.sizeName !== undefined',
		'true',
		'numbered pages are staggered only if their size can be requested',
	],
	['calls/callPages.ts', 'total === undefined', 'false', NO_FURTHER_PARTS],
	['calls/callPages.ts', 'length === 0', 'false', NO_FURTHER_PARTS],
	[
		'calls/callList.ts',
		'lists[0]?.length',
		'lists[0].length',
		'the one list that is counted is there',
	],
	['feed/readAhead.ts', 'rows.length === 0', 'false', 'of no rows nothing is read'],
	[
		'feed/push.ts',
		'rows === whole.rows',
		'false',
		'a short cut for a whole request; its contacts one by one come to the same',
	],
	[
		'feed/push.ts',
		'firstIndex !== undefined',
		'true',
		'what is not known leaves the record as it is',
	],
	['file/fileRows.ts', "''", '"Stryker was here!"', 'each row is in one of the files'],
	[
		'file/fileRows.ts',
		'this.tables[this.fileOf(index)]?.file',
		'this.tables[this.fileOf(index)].file',
		'each row is in one of the files',
	],
	[
		'file/fileRows.ts',
		'found?.number',
		'found.number',
		'what is at hand has every row up to its end',
	],
	[
		'feed/rows.ts',
		'this.items[index]?.json',
		'this.items[index].json',
		'a row that is picked is there',
	],
	[
		'feed/writtenContacts.ts',
		'start + COMMA.length',
		'start - COMMA.length',
		'quotes and braces, which are one byte each, leave more room than that',
	],
	[
		'feed/writtenContacts.ts',
		'most > this.bytes.length',
		'most >= this.bytes.length',
		'it grows one contact earlier',
	],
	[
		'feed/writtenContacts.ts',
		'before === undefined',
		'false',
		'no number is taken for the beginning',
	],
	[
		'n8n/transport.ts',
		"''",
		'"Stryker was here!"',
		'what is handed over is not looked up by its ID',
	],
].map(([file, original, replacement, why, within = '']) => ({
	file,
	original,
	replacement,
	why,
	within,
}));
