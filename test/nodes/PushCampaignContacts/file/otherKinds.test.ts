import { binaryKind, writtenKind } from '../../../../nodes/PushCampaignContacts/file/otherKinds';

test.each<[string, number[], string | undefined]>([
	['a ZIP file', [0x50, 0x4b, 0x03, 0x04, 0x14], 'an Excel workbook or another ZIP file'],
	['an old workbook', [0xd0, 0xcf, 0x11, 0xe0, 0xa1], 'an old Excel workbook (.xls)'],
	['a compressed file', [0x1f, 0x8b, 0x08], 'compressed'],
	['a PDF', [0x25, 0x50, 0x44, 0x46, 0x2d], 'a PDF'],
	['a list whose first heading begins with PK', [...Buffer.from('PK,phone')], undefined],
	['a list whose first heading begins with %', [...Buffer.from('%PD,phone')], undefined],
])('%s by its first bytes', (_what, bytes, kind) => {
	expect(binaryKind(Uint8Array.from(bytes))?.description).toBe(kind);
});

test.each([
	['<!DOCTYPE html>', 'a web page or XML'],
	[' \n\t<html lang="en">', 'a web page or XML'],
	['<?xml version="1.0"?>', 'a web page or XML'],
	['<table><tr>', 'a web page or XML'],
	['[{"phone":"1"}]', 'JSON'],
	['\n [ \n [1]]', 'JSON'],
	['[]', 'JSON'],
	['{ \n"phone":"1"}', 'JSON'],
	['{}', 'JSON'],
	['<name>,phone', undefined],
	['<tablet>,phone', undefined],
	['phone <html>', undefined],
	['[phone],name', undefined],
	['{phone},name', undefined],
	['{x"y},name', undefined],
	['phone[{', undefined],
	['', undefined],
])('the text %j', (text, kind) => {
	expect(writtenKind(text)?.description).toBe(kind);
});
