/** What a formula without a result shows in Excel, Google Sheets, and LibreOffice, in English and some other languages. */
const ERROR_VALUES = new Set([
	...['#REF!', '#NAME?', '#N/A', '#VALUE!', '#DIV/0!', '#NUM!', '#NULL!', '#ERROR!'],
	...['#SPILL!', '#CALC!', '#FIELD!', '#BLOCKED!', '#BUSY!', '#CONNECT!', '#UNKNOWN!'],
	...['#EXTERNAL!', '#PYTHON!', '#GETTING_DATA', '#BEZUG!', '#WERT!', '#ZAHL!', '#NV'],
	...['#NOM?', '#VALEUR!', '#NOMBRE!', '#NUL!', '#RIF!', '#NOME?', '#VALORE!', '#VALOR!', '#N/D'],
	...['#¡REF!', '#¿NOMBRE?', '#¡VALOR!', '#¡DIV/0!', '#¡NUM!', '#¡NULO!'],
]);
/** Of LibreOffice, and of a number in a column that is too narrow for it. */
const OTHER_ERROR = /^(?:Err:5\d\d|#{3,})$/;

/** Whether a cell has an error value of a spreadsheet, such as `#REF!`. */
export function isErrorValue(cell: unknown): boolean {
	if (typeof cell !== 'string') return false;
	const text = cell.trim();
	return ERROR_VALUES.has(text.toUpperCase()) || OTHER_ERROR.test(text);
}
