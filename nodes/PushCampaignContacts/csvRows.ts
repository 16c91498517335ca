import { sleep, type IBinaryData, type IExecuteFunctions } from 'n8n-workflow';
import { InvalidInput, NotSent } from '../shared/api/errors';
import { onScreenOnly } from '../shared/api/resolution';
import { type Fields, MAY_BE_BLANK } from '../shared/n8n/forms/fields';
import { readEachItem } from '../shared/n8n/run/itemLoop';
import type { OperationRun } from '../shared/n8n/run/operations';
import { runsAsTool } from '../shared/n8n/tools/toolRun';
import { quoted, messageOf } from '../shared/values';
import type { Source, CsvFormat } from './file/csvFile';
import { FileRows } from './file/fileRows';

/** The rows of the CSV files in the input items. */
export async function openCsvFiles({ context, parameters }: OperationRun): Promise<FileRows> {
	if (runsAsTool(context)) {
		throw new InvalidInput(
			"A tool can't read CSV files, so nothing was sent",
			onScreenOnly("Set 'Contacts From' of the tool to JSON."),
		);
	}
	const format = readFormat(parameters.at(0).collection('options'));
	const sources = await readEachItem(context, (index) => {
		const field = parameters.at(index).text('binaryPropertyName', MAY_BE_BLANK);
		return sourceOf(context, fileOf(context, index, field), index);
	});
	return await FileRows.open(sources, format, async () => await sleep(0));
}

function fileOf(context: IExecuteFunctions, index: number, field: string): IBinaryData {
	try {
		return context.helpers.assertBinaryData(index, field);
	} catch {
		throw noFile(context, index, field);
	}
}

function noFile(context: IExecuteFunctions, index: number, field: string): InvalidInput {
	const { binary = {}, json = {} } = context.getInputData()[index] ?? {};
	const files = Object.keys(binary).map(quoted);
	const data =
		Object.keys(json).length === 0
			? ''
			: ", but it has other data. If the items are rows, set 'Contacts From' to 'Input Items'";
	const has = files.length > 0 ? `has a file in ${files.join(', ')}` : `has no file${data}`;
	return new InvalidInput(
		`Item ${index} has no file in field ${quoted(field)}, so nothing was sent`,
		onScreenOnly(
			`In 'Input Binary Field', enter the name of the field with the CSV file. The item ${has}.`,
		),
	);
}

function sourceOf(
	{ helpers }: IExecuteFunctions,
	{ id, data, fileName }: IBinaryData,
	index: number,
): Source {
	const name = fileName ?? `of item ${index}`;
	return {
		name,
		open: async () =>
			id === undefined ? bytesOf(data) : readable(name, helpers.getBinaryStream(id)),
	};
}

const CHARACTERS = 65_536;

/** Decodes a small file that is in the item itself. Files from emails have line breaks in their base64 text. */
function* bytesOf(base64: string): Generator<Uint8Array> {
	let rest = '';
	// Four characters are three bytes.
	for (let from = 0; from < base64.length; from += CHARACTERS) {
		const text = rest + base64.slice(from, from + CHARACTERS).replace(/\s/g, '');
		rest = text.slice(text.length - (text.length % 4));
		yield Buffer.from(text.slice(0, text.length - rest.length), 'base64');
	}
	yield Buffer.from(rest, 'base64');
}

async function* readable(
	name: string,
	stream: Promise<AsyncIterable<Uint8Array>>,
): AsyncGenerator<Uint8Array> {
	try {
		yield* await stream;
	} catch (error) {
		throw notReadable(name, error);
	}
}

function notReadable(name: string, error: unknown): NotSent {
	return new NotSent(
		`n8n couldn't read the file ${quoted(name)} to its end, so the remaining rows weren't sent`,
		onScreenOnly('Push only the remaining rows. If n8n has deleted the file, load it again first.'),
		messageOf(error),
		false,
		'n8n',
	);
}

function readFormat(options: Fields): CsvFormat {
	return {
		delimiter: checkDelimiter(options.textAsWritten('delimiter')),
		encoding: encodingOf(options.choice('encoding', AUTOMATIC)),
	};
}

function checkDelimiter(written: string): string {
	const delimiter = written === '\\t' ? '\t' : written;
	const isOne = delimiter.length === 1 && !/["\r\n]/.test(delimiter);
	if (delimiter === '' || isOne) return delimiter;
	throw new InvalidInput(
		`'Delimiter' must be a single character (got ${quoted(written)}). Nothing was sent`,
		onScreenOnly(
			"Enter the character between the cells, such as ; or \\t for a tab. To detect it from the file, remove 'Delimiter' from 'Options'.",
		),
	);
}

const AUTOMATIC = 'automatic';

/** Empty to detect it from the file. */
function encodingOf(chosen: string): string {
	return chosen === AUTOMATIC ? '' : chosen;
}
