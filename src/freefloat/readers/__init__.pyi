from freefloat.readers.mjcf.reader import read_mjcf as read_mjcf
from freefloat.readers.reports import ReadingNote as ReadingNote
from freefloat.readers.sdf.reader import read_sdf as read_sdf
from freefloat.readers.urdf.reader import read_urdf as read_urdf
from freefloat.readers.urdf.writer import write_urdf as write_urdf
