import get from 'lodash/get';
import has from 'lodash/has';
import uniq from 'lodash/uniq';
import { InvalidInput } from '../../core/service/errors';
import { onScreenOnly } from '../../core/service/resolution';
import { named, quoted } from '../../core/values/values';
import { readConsent } from '../../host/forms/consentField';
import { isFromModel } from '../../host/forms/fieldValue';
import type { Fields } from '../../host/forms/fields';
import type { OperationRun } from '../../host/run/operations';
import type { TimeSettings } from '../callTime';

const MAX_LISTED_COLUMNS = 20;

/**
 * Reads *Consent*. Returns that of each item, by the row without what a model gave.
 *
 * @throws InvalidInput if the option is invalid, or none of several rows has its column: nobody would be called
 */
export function readRowConsent({
	context,
	caller: { kind, agent },
	parameters,
}: OperationRun): (index: number) => TimeSettings['consent'] {
	const form = parameters.at(0);
	const consent = readConsent(form.collection('options'), context.getTimezone());
	if (consent === undefined) return () => undefined;
	requireNumberOfRow(form);
	const items = kind === 'workflow' ? context.getInputData() : (agent?.row.rows ?? []);
	const rows = items.map(({ json }) => json);
	// A column, or a value nested in one, as dragging it names it.
	const { column } = consent;
	// A single row, as in a loop, doesn't show its empty columns: n8n's nodes for sheets leave them out.
	if (rows.length > 1 && !rows.some((row) => has(row, column))) throw missingColumn(column, rows);
	return (index) => {
		// Undefined if it isn't certain which one asks.
		const row = kind === 'workflow' ? rows[index] : agent?.row.columns;
		return { ...consent, cell: has(row, column) ? get(row, column) : undefined };
	};
}

/** The consent of the row isn't that of a person whose number a model chooses. */
function requireNumberOfRow(form: Fields): void {
	const byModel = ['phoneNumber', 'countryCode'].some((name) => isFromModel(form.expression(name)));
	if (!byModel) return;
	throw new InvalidInput(
		"With 'Consent', the model can't choose the number, so no call was placed",
		onScreenOnly(
			"In 'Phone Number' and 'Country', use the row of the agent's input, such as {{ $json.phone }}.",
		),
	);
}

function missingColumn(column: string, rows: readonly object[]): InvalidInput {
	const names = uniq(rows.flatMap(Object.keys));
	const shown = names.length > 0 ? `: ${named(names, quoted, MAX_LISTED_COLUMNS)}` : ' no columns';
	return new InvalidInput(
		`The input has no column ${quoted(column)}, so no call was placed`,
		onScreenOnly(
			// Such as of an Excel file, whose empty cells n8n leaves out.
			`In 'Consent Column', enter the name of the column with the dates on which people agreed. If it's right, none of these rows has a date. The input has${shown}.`,
		),
	);
}
