import { sleep, type IBinaryData, type IExecuteFunctions } from 'n8n-workflow';
import { InvalidInput, NotSent } from '../shared/api/errors';
import { onScreenOnly } from '../shared/api/modelAdvice';
import { type Fields, MAY_BE_BLANK } from '../shared/n8n/forms/fields';
import { readEachItem } from '../shared/n8n/run/itemLoop';
import type { OperationRun } from '../shared/n8n/run/operations';
import { runsAsTool } from '../shared/n8n/tools/toolRun';
import { quoted } from '../shared/values';
import type { Source, Writing } from './file/csvFile';
import { FileRows } from './file/fileRows';

/** The rows of the CSV files that the input items carry. */
export async function openCsvFiles({ context, parameters }: OperationRun): Promise<FileRows> {
	if (runsAsTool(context)) {
		throw new InvalidInput(
			'A model has no file to give, so nothing was sent',
			onScreenOnly('Set Contacts From of the tool to JSON.'),
		);
	}
	const writing = readWriting(parameters.at(0).collection('options'));
	const sources = await readEachItem(context, (index) => {
		const field = parameters.at(index).text('binaryPropertyName', MAY_BE_BLANK);
		return sourceOf(context, fileOf(context, index, field), index);
	});
	return await FileRows.open(sources, writing, async () => await sleep(0));
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
			: ', but data: if these are rows already, set Contacts From to Input Items';
	const has = files.length > 0 ? `has a file in ${files.join(', ')}` : `has no file${data}`;
	return new InvalidInput(
		`Item ${index} has no file in the field ${quoted(field)}, so nothing was sent`,
		onScreenOnly(
			`Enter in Input Binary Field the name of the field that holds the CSV file. The item ${has}.`,
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

/** A small file may lie in the item itself. Four characters are three bytes, and what a mail brought has line breaks in between. */
function* bytesOf(base64: string): Generator<Uint8Array> {
	let rest = '';
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
		`n8n could not read the file ${quoted(name)} to its end, so what is left of it was not sent`,
		onScreenOnly('Start the workflow again. If n8n has deleted the file meanwhile, get it anew.'),
		error instanceof Error ? error.message : String(error),
		false,
		'n8n',
	);
}

function readWriting(options: Fields): Writing {
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
		`Delimiter holds ${quoted(written)}, which is not one character, so nothing was sent`,
		onScreenOnly(
			'Enter the character between the cells, such as ; or \\t for a tab, or take Delimiter out of Options to have it found out.',
		),
	);
}

const AUTOMATIC = 'automatic';

/** Empty where it is to be found out. */
function encodingOf(chosen: string): string {
	return chosen === AUTOMATIC ? '' : chosen;
}
